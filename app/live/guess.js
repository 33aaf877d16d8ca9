// @ts-check
// What a reader does in a picture: draws a curve by hand, over which the true one is then laid, and
// drags a mark. Neither is part of a scene: the path adds them to its panels.

import { fullRange, toScale, valueAt } from "./axes.js";
import { drag, note, put, set, setVisible, svg } from "./dom.js";
import { clamp, finite, formatNumber } from "./format.js";
import { linePath } from "./shapes.js";

/** @import { Axis, Numbers } from "./types.js" */

/** @type {Record<string, [number, number]>} how keys move the hand */
const KEYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** Index of the number nearest to a value. @param {number[]} numbers @param {number} value */
export function indexNear(numbers, value) {
  const away = numbers.map((number) => Math.abs(number - value));
  return away.indexOf(Math.min(...away));
}

/**
 * Which place of a mark a hand means: the nearest one across; upright where all are in one line.
 * @param {number[]} xs pixels
 * @param {number[]} ys
 * @param {number} x
 * @param {number} y
 */
export const markNear = (xs, ys, x, y) =>
  xs.every((value) => value === xs[0]) ? indexNear(ys, y) : indexNear(xs, x);

/**
 * The curve after a stroke of the hand from one place to another: straight between them.
 * @param {Numbers} drawn `null` where nothing is drawn yet
 * @param {[number, number]} from index and height on the axis
 * @param {[number, number]} to
 * @returns {Numbers}
 */
export function stroked(drawn, [i, from], [j, to]) {
  return drawn.map((height, k) => {
    if (k < Math.min(i, j) || k > Math.max(i, j)) return height;
    return i === j ? to : from + ((to - from) * (k - i)) / (j - i);
  });
}

/**
 * The curve with its gaps closed: flat beyond its ends.
 * @param {Numbers} drawn
 */
export function completed(drawn) {
  const known = drawn.flatMap((height, k) => (height == null ? [] : [k]));
  return drawn.map((height, k) => height ?? /** @type {number} */ (drawn[known[indexNear(known, k)]]));
}

/**
 * How far a drawn curve is from the true one: the mean distance as a share of the axis, and where it
 * is the largest.
 * @param {Axis} axis
 * @param {Numbers} drawn
 * @param {number[]} truth
 */
export function errorOf(axis, drawn, truth) {
  const [low, high] = fullRange(axis);
  const off = truth.map((value, k) => {
    const at = clamp(toScale(axis, value), low, high); // beyond the frame nobody can draw
    return (toScale(axis, drawn[k] ?? NaN) - at) / (high - low);
  });
  const sizes = off.map(Math.abs);
  const worst = sizes.indexOf(Math.max(...sizes));
  return { share: sizes.reduce((a, b) => a + b) / sizes.length, worst, high: off[worst] > 0 };
}

/** @type {import("./types.js").LayerKind} */
export const guess = {
  build(card, layer, group) {
    const pad = svg("rect", {
      class: "dpp-pad", role: "slider", tabindex: 0, "aria-label": "Your curve: left and right "
        + "choose a place, up and down draw", "aria-valuemin": 0, "aria-valuemax": 100,
    });
    const line = svg("path", { class: "dpl-line dpp-drawn", "clip-path": `url(#${card.clip})` });
    const truth = svg("path", {
      class: "dpl-line dpl-strong dpp-truth", pathLength: 1, "clip-path": `url(#${card.clip})`,
    });
    const here = svg("circle", { class: "dpp-here", r: 4 });
    const empty = note("Draw here →");
    group.append(pad, empty, line, truth, here);
    let at = 0;
    const { y: axis } = card.panel;
    const [low, high] = axis.range;
    const draw = () => {
      const begun = layer.drawn.some(finite);
      set(line, { d: linePath(card, layer.x, layer.drawn) });
      set(truth, { d: layer.shown ? linePath(card, layer.x, layer.truth) : "" });
      setVisible(empty, !begun && !layer.shown);
      const [x, y] = [card.px(layer.x[at]), card.py(layer.drawn[at])];
      if (setVisible(here, begun && !layer.shown && finite(y))) set(here, { cx: x, cy: y });
      const told = finite(layer.drawn[at]) ? formatNumber(layer.drawn[at], 3) : "nothing drawn";
      const value = finite(y) ? 100 * (card.frame.y1 - y) / (card.frame.y1 - card.frame.y0) : 0;
      set(pad, {
        "aria-valuenow": Math.round(value),
        "aria-valuetext": `${card.panel.x.label} ${formatNumber(layer.x[at], 3)}: ${told}`,
      });
    };
    /** @param {[number, number]} from @param {[number, number]} to in data units */
    const stroke = (from, to) => {
      layer.drawn = stroked(layer.drawn, from, to);
      at = to[0];
      draw();
      layer.changed();
    };
    /** @param {MouseEvent} event @returns {[number, number]} */
    const place = (event) => {
      const [x, y] = card.dataAt(event);
      const along = layer.x.map((/** @type {number} */ value) => card.px(value));
      return [indexNear(along, card.px(x)), clamp(y, low, high)];
    };
    pad.addEventListener("pointerdown", (down) => {
      if (layer.shown || down.button !== 0) return;
      down.stopPropagation(); // the card would pan
      down.preventDefault();
      pad.focus({ preventScroll: true });
      let last = place(down);
      stroke(last, last);
      drag(pad, down, (event) => {
        const next = place(event);
        stroke(last, next);
        last = next;
      }, () => {});
    });
    pad.addEventListener("keydown", (event) => {
      const way = KEYS[event.key];
      if (layer.shown || !way) return;
      event.preventDefault();
      const { y0, y1 } = card.frame;
      const height = card.py(layer.drawn[at]);
      const up = (y1 - (finite(height) ? height : (y0 + y1) / 2)) / (y1 - y0) + way[1] / 40;
      const value = valueAt(axis, fullRange(axis), clamp(up, 0, 1));
      const step = way[0] * Math.max(1, Math.round(layer.x.length / 20));
      stroke([at, value], [clamp(at + step, 0, layer.x.length - 1), value]);
    });
    return () => {
      const { x0, y0, y1, width, height } = card.frame;
      set(pad, { width, height }); // also over the numbers of the axes, where a hand may set out
      put(empty, x0 + 8, (y0 + y1) / 2);
      draw();
    };
  },
};

/** @type {import("./types.js").LayerKind} */
export const handle = {
  build(card, layer, group) {
    const halo = svg("circle", { class: "dpp-halo", r: 20 });
    const mark = svg("circle", { class: "dpp-mark", r: 9 });
    group.append(halo, mark);
    for (const node of [halo, mark]) {
      node.addEventListener("pointerdown", (down) => {
        if (down.button !== 0) return;
        down.stopPropagation(); // the card would pan
        down.preventDefault();
        drag(node, down, (event) => {
          const box = card.svg.getBoundingClientRect();
          const [x, y] = [event.clientX - box.left, event.clientY - box.top];
          layer.move(markNear(layer.x.map(card.px), layer.y.map(card.py), x, y));
        }, () => {});
      });
    }
    return (step) => {
      const [cx, cy] = [card.px(layer.x[step]), card.py(layer.y[step])];
      if (!setVisible(group, finite(cx) && finite(cy))) return;
      for (const node of [halo, mark]) set(node, { cx, cy });
    };
  },
};
