// @ts-check
// A cloud of points, painted on the canvas.

import { finite } from "./format.js";
import { xyAt } from "./steps.js";

/** @type {import("./types.js").LayerKind} */
export const points = {
  paint(card, layer, step, pen) {
    const [xs, ys] = xyAt(layer, step);
    pen.globalAlpha = layer.opacity;
    pen.fillStyle = card.live.ink(layer.colour);
    xs.forEach((value, i) => {
      const [x, y] = [card.px(value), card.py(ys[i])];
      if (!finite(x) || !finite(y)) return;
      pen.beginPath();
      pen.arc(x, y, 1.9, 0, 2 * Math.PI);
      pen.fill();
    });
  },
};
