// @ts-check
// A density of Gaussian groups as filled contours: one tone between two levels.

import { valueAt } from "./axes.js";
import { make, penOf } from "./dom.js";
import { gaussianRows } from "./ellipses.js";
import { finite, rgb } from "./format.js";
import { slice } from "./steps.js";

/** @import { Gaussian } from "./types.js" */

const CELL = 1.5; // px of the page for one cell of the picture
const DEEPEST = 170; // opacity inside the innermost contour, of 255

/**
 * The density of groups at a place.
 * @param {Gaussian[]} groups
 * @returns {(x: number, y: number) => number}
 */
export function densityOf(groups) {
  const terms = groups.map(([mx, my, xx, xy, yy, weight]) => {
    const size = xx * yy - xy * xy;
    return [mx, my, yy / size, xy / size, xx / size, weight / (2 * Math.PI * Math.sqrt(size))];
  });
  return (x, y) => {
    let total = 0;
    for (const [mx, my, a, b, c, top] of terms) {
      const [u, v] = [x - mx, y - my];
      total += top * Math.exp(b * u * v - (a * u * u + c * v * v) / 2);
    }
    return total;
  };
}

/** @type {import("./types.js").LayerKind} */
export const density = {
  paint(card, layer, step, pen) {
    /** @type {Gaussian[]} */
    const groups = slice(layer.params, step, 3)[0];
    if (!groups.flat().every(finite)) return;
    const { x0, x1, y0, y1 } = card.frame;
    const [wide, high] = [x1 - x0, y1 - y0].map((size) => Math.max(1, Math.ceil(size / CELL)));
    const view = card.live.view(card.panel);
    const at = densityOf(groups);
    const image = new ImageData(wide, high);
    const [red, green, blue] = rgb(card.live.palette[layer.colour]);
    const { length } = layer.levels;
    const xs = Array.from({ length: wide }, (_, i) =>
      valueAt(card.panel.x, view.x, (i + 0.5) / wide));
    for (let row = 0; row < high; row += 1) {
      const y = valueAt(card.panel.y, view.y, 1 - (row + 0.5) / high);
      for (let i = 0; i < wide; i += 1) {
        const value = at(xs[i], y);
        let over = 0;
        while (over < length && value >= layer.levels[over]) over += 1;
        const cell = 4 * (row * wide + i);
        image.data[cell] = red;
        image.data[cell + 1] = green;
        image.data[cell + 2] = blue;
        image.data[cell + 3] = (over / length) * DEEPEST;
      }
    }
    const board = make("canvas", { width: wide, height: high });
    penOf(board).putImageData(image, 0, 0);
    pen.drawImage(board, x0, y0, x1 - x0, y1 - y0);
  },
  rows: gaussianRows,
};
