// @ts-check
// The tail of a density beyond a line that the hand drags, faint, and in it, strong, what of it counts;
// the area of that stands beside it.

import { drag, put, set, setVisible, svg } from "./dom.js";
import { clamp, colour, inPowers } from "./format.js";
import { hover, nearest } from "./readout.js";
import { bandPath } from "./shapes.js";
import { slice, xyAt } from "./steps.js";

/** @import { Numbers } from "./types.js" */

/**
 * The losses beyond epsilon, their density times its weight, 0 at epsilon, and their density.
 * @param {Numbers} losses
 * @param {Numbers} density
 * @param {number} epsilon
 * @returns {[Numbers, Numbers, Numbers]}
 */
export function weighted(losses, density, epsilon) {
  const beyond = [...losses.keys()].filter((i) => Number(losses[i]) > epsilon);
  return [
    [epsilon, ...beyond.map((i) => losses[i])],
    [0, ...beyond.map((i) => Number(density[i]) * -Math.expm1(epsilon - Number(losses[i])))],
    [density[beyond[0]] ?? 0, ...beyond.map((i) => density[i])],
  ];
}

const BOLDER = 1.2; // how much wider the bold label is than the measure

/** How many places a key moves the line; 0: none. @param {string} key */
export const keyPlaces = (key) =>
  ({ ArrowUp: 1, ArrowRight: 1, PageUp: 10, ArrowDown: -1, ArrowLeft: -1, PageDown: -10 })[key]
    ?? 0;

/** @type {import("./types.js").LayerKind} */
export const tail = {
  build(card, layer, group) {
    /** @type {number[]} */
    const places = layer.epsilons;
    const { marks } = card.live;
    const area = svg("path", { class: "dpl-tail", fill: colour(layer.colour) });
    const whole = svg("path", { class: "dpl-tail-whole", fill: colour(layer.colour) });
    const line = svg("line", { class: "dpl-needle" });
    const grip = svg("line", {
      class: "dpl-grip", role: "slider", tabindex: 0, "aria-label": layer.name,
      "aria-valuemin": places[0], "aria-valuemax": places[places.length - 1],
    });
    const label = svg("text", { class: "dpl-label dpl-read" });
    for (const shape of [whole, area, line]) set(shape, { "clip-path": `url(#${card.clip})` });
    group.append(whole, area, line, label, grip);
    let at = 0;
    const draw = (/** @type {number} */ step) => {
      const epsilon = marks.get(layer.name) ?? slice(layer.start, step, 0);
      at = places.indexOf(epsilon);
      const delta = slice(layer.deltas, step, 1)[at];
      if (!setVisible(group, at >= 0 && delta != null)) return;
      const [losses, density] = xyAt(layer, step);
      const [xs, ys, all] = weighted(losses, density, epsilon);
      const floor = xs.map(() => 0);
      set(area, { d: bandPath(card, xs, floor, ys) });
      set(whole, { d: bandPath(card, xs, floor, all) });
      const { x0, x1, y0, y1 } = card.frame;
      const x = card.px(epsilon);
      for (const shape of [line, grip]) set(shape, { x1: x, x2: x, y1: y0, y2: y1 });
      const text = `ε = ${inPowers(epsilon)}: δ = ${inPowers(delta)}`;
      label.textContent = text;
      set(grip, { "aria-valuenow": epsilon, "aria-valuetext": text });
      const left = x > (x0 + x1) / 2;
      const room = BOLDER * card.widest([text]);
      const edge = left ? Math.max(x - 8, x0 + room) : Math.min(x + 8, x1 - room);
      put(label, edge, y0 + 16, left ? "end" : "start");
    };
    const move = (/** @type {number} */ place) => {
      marks.set(layer.name, places[clamp(place, 0, places.length - 1)]);
      draw(card.live.step);
    };
    grip.addEventListener("pointerdown", (down) => {
      down.stopPropagation(); // the card would pan
      down.preventDefault();
      grip.focus({ preventScroll: true });
      hover(card, null); // its own label says what is under the hand
      drag(grip, down, (event) => {
        const [u] = card.unit(event);
        const { x0, x1 } = card.frame;
        move(nearest(places, card.px, x0 + u * (x1 - x0)));
      }, () => {});
    });
    grip.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        marks.delete(layer.name);
        draw(card.live.step);
      }
      const by = keyPlaces(event.key);
      if (!by) return;
      event.preventDefault();
      move(at + by);
    });
    return draw;
  },
};
