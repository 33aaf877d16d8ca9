// @ts-check
// The clipping ring: dragged or moved by arrow keys, it reports its factor when it is let go.

import { drag, note, put, set, setVisible, svg } from "./dom.js";
import { clamp, formatNumber } from "./format.js";
import { ellipsePath } from "./shapes.js";
import { slice } from "./steps.js";

const CORNER = 16; // px that a ring must stay away from the farthest corner to be drawn

/**
 * The factor of a ring through a point.
 * @param {{ cx: number, cy: number, rx: number, ry: number }} ring
 * @param {[number, number]} point
 */
export const factorAt = ({ cx, cy, rx, ry }, [x, y]) => Math.hypot((x - cx) / rx, (y - cy) / ry);

/**
 * Whether more of a ring is in sight than a dash in the farthest corner of the frame.
 * @param {{ x: number, y: number, rx: number, ry: number }} ring in pixels
 * @param {{ x0: number, x1: number, y0: number, y1: number }} frame
 * @param {number} factor
 */
export const inSight = ({ x, y, rx, ry }, { x0, x1, y0, y1 }, factor) =>
  (Math.hypot(Math.max(x - x0, x1 - x) / rx, Math.max(y - y0, y1 - y) / ry) - factor)
    * Math.min(rx, ry) > CORNER;

/** How much a key moves it; 0: nothing. @param {string} key */
export const keyStep = (key) =>
  ({ ArrowUp: 0.05, ArrowRight: 0.05, ArrowDown: -0.05, ArrowLeft: -0.05 })[key] ?? 0;

/** @type {import("./types.js").LayerKind} */
export const ring = {
  build(card, layer, group) {
    const [least, most] = layer.limits;
    const line = svg("path", { class: "dpl-ring" });
    const grip = svg("path", {
      class: "dpl-grip", role: "slider", tabindex: 0, "aria-label": layer.label,
      "aria-valuemin": least, "aria-valuemax": most, "data-ring": layer.name,
    });
    const label = note(layer.label);
    for (const shape of [line, grip]) set(shape, { "clip-path": `url(#${card.clip})` });
    group.append(line, label, grip);
    let [factor, at] = [1, -1];
    const draw = () => {
      const d = ellipsePath(card, [layer.cx, layer.cy, layer.rx ** 2, 0, layer.ry ** 2], factor);
      set(line, { d });
      set(grip, { d, "aria-valuenow": formatNumber(factor, 3), "data-factor": factor });
      const [x, y] = [card.px(layer.cx), card.py(layer.cy)];
      const [rx, ry] = [card.px(layer.cx + layer.rx) - x, y - card.py(layer.cy + layer.ry)];
      setVisible(line, inSight({ x, y, rx, ry }, card.frame, factor));
      put(label, x, y - factor * ry - 6, "middle");
    };
    card.rings.push({ name: layer.name, resize: (value) => { factor = value; draw(); } });
    /** The same ring on another card moves along. @param {number} value */
    const resize = (value) => card.live.resizeRings(layer.name, clamp(value, least, most));
    const send = () => card.live.send("ring", { name: layer.name, factor });
    grip.addEventListener("pointerdown", (down) => {
      down.stopPropagation(); // the card would pan
      down.preventDefault();
      grip.focus({ preventScroll: true });
      const before = factor;
      drag(grip, down, (event) => resize(factorAt(layer, card.dataAt(event))),
        () => { if (factor !== before) send(); });
    });
    grip.addEventListener("keydown", (event) => {
      const step = keyStep(event.key);
      if (!step) return;
      event.preventDefault();
      resize(factor + step);
    });
    grip.addEventListener("keyup", (event) => { if (event.key.startsWith("Arrow")) send(); });
    return (step) => {
      if (step !== at) [factor, at] = [slice(layer.factor, step, 0), step]; // else the hand's
      draw();
    };
  },
};
