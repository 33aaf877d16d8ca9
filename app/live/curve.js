// @ts-check
// A line with a band around it; its label stands at the right end.

import { set, svg } from "./dom.js";
import { colour } from "./format.js";
import { bandPath, linePath } from "./shapes.js";
import { slice, xyAt } from "./steps.js";

/** @type {import("./types.js").LayerKind} */
export const curve = {
  clipped: true,
  build(card, layer, group) {
    const ink = colour(layer.colour);
    const band = svg("path", { class: "dpl-band", fill: ink });
    const line = svg("path", { stroke: ink, "stroke-dasharray": card.live.dash(layer.dash) });
    line.classList.add("dpl-line");
    line.classList.toggle("dpl-strong", layer.bold);
    line.classList.toggle("dpl-quiet", layer.colour == null);
    group.append(band, line);
    return (step) => {
      const [xs, ys] = xyAt(layer, step);
      set(line, { d: linePath(card, xs, ys) });
      if (!layer.lo) return;
      set(band, { d: bandPath(card, xs, slice(layer.lo, step, 1), slice(layer.hi, step, 1)) });
    };
  },
};
