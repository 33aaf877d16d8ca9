// @ts-check
// Gaussian groups, outlined at levels of standard deviations: the fit, other draws, a reference.

import { set, setVisible, svg } from "./dom.js";
import { colour, finite } from "./format.js";
import { covers, ellipsePath } from "./shapes.js";
import { slice } from "./steps.js";

/** @import { Gaussian, Row } from "./types.js" */

/**
 * Every group of every draw as a line of a table.
 * @param {{ params: any[], style: string, names: string[] }} layer
 * @param {number} step
 * @returns {Row[]}
 */
export function gaussianRows(layer, step) {
  /** @type {Gaussian[][]} */
  const draws = slice(layer.params, step, 3);
  return draws.flatMap((groups, draw) =>
    groups.map(([x, y, cov_xx, cov_xy, cov_yy, weight], k) => ({
      layer: { ghost: "other draws", outline: "exact groups" }[layer.style] ?? "groups",
      name: layer.names[k], item: draw + 1, x, y, cov_xx, cov_xy, cov_yy, weight,
    })));
}

/** @type {import("./types.js").LayerKind} */
export const ellipses = {
  clipped: true,
  build(card, layer, group) {
    /** @type {{ draw: number, k: number, level?: number, path: SVGPathElement }[]} */
    const parts = [];
    const bold = layer.style === "bold";
    group.setAttribute("class", `dpl-${layer.style}`);
    layer.params[0].forEach((/** @type {Gaussian[]} */ groups, /** @type {number} */ draw) =>
      groups.forEach((_, k) => {
        const ink = colour(layer.style === "outline" ? null : layer.colours[k]);
        for (const level of layer.levels) {
          const outer = level === Math.max(...layer.levels);
          const fill = layer.fill && outer && bold ? ink : "none";
          // Second cue: the inner outline carries the dash of its palette index.
          const path = svg("path", {
            class: "dpl-ellipse", stroke: ink, fill, "data-level": level,
          });
          if (!outer && bold) set(path, { "stroke-dasharray": card.live.dash(layer.colours[k]) });
          parts.push({ draw, k, level, path });
        }
        if (layer.centre && bold) {
          parts.push({ draw, k, path: svg("path", { class: "dpl-centre", stroke: ink }) });
        }
      }));
    group.append(...parts.map((part) => part.path));
    return (step) => {
      /** @type {Gaussian[][]} */
      const draws = slice(layer.params, step, 3);
      const faint = layer.faint && slice(layer.faint, step, 2);
      for (const { draw, k, level, path } of parts) {
        const gaussian = draws[draw][k];
        const fades = Boolean(faint?.[draw][k]);
        if (!setVisible(path, gaussian.every(finite) && (bold || !fades))) continue;
        if (level) path.classList.toggle("dpl-wide", fades);
        const [x, y] = [card.px(gaussian[0]), card.py(gaussian[1])];
        const plus = `M${x - 5} ${y}h10M${x} ${y - 5}v10`;
        path.setAttribute("d", level ? ellipsePath(card, gaussian, level) : plus);
        // Wider than the card it would only dye it.
        if (level) path.style.fillOpacity = covers(card, gaussian, level) ? "0" : "";
        path.dataset.cx = String(gaussian[0]);
        path.dataset.cy = String(gaussian[1]);
      }
    };
  },
  rows: gaussianRows,
};
