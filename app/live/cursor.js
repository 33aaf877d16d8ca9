// @ts-check
// The current point: a vertical line, and a dot where it has a height.

import { set, setVisible, svg } from "./dom.js";
import { clamp, colour, finite } from "./format.js";

/** @type {import("./types.js").LayerKind} */
export const cursor = {
  build(card, layer, group) {
    const line = svg("line", { class: "dpl-cursor" });
    const dot = svg("circle", { class: "dpl-dot", r: 5.5, fill: colour(layer.colour) });
    group.append(line, dot);
    return (step) => {
      const [x, y] = [card.px(layer.x[step]), card.py(layer.y[step])];
      const { x0, x1, y0, y1 } = card.frame;
      const across = x >= x0 - 1 && x <= x1 + 1; // never for NaN
      const visible = setVisible(dot, across && finite(y));
      if (setVisible(line, across && layer.line)) set(line, { x1: x, x2: x, y1: y0, y2: y1 });
      // Beyond the frame it waits at the edge, hollow.
      if (visible) set(dot, { cx: x, cy: clamp(y, y0, y1) });
      dot.classList.toggle("dpl-beyond", visible && (y < y0 - 1 || y > y1 + 1));
    };
  },
};
