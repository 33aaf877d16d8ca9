// @ts-check
// A straight line across the frame, the same at every step, with its label where there is room.

import { note, set, setVisible, svg } from "./dom.js";

/** @import { Place } from "./types.js" */

/** @type {import("./types.js").LayerKind} */
export const rule = {
  build(card, layer, group) {
    const line = svg("line", { class: "dpl-rule", "stroke-dasharray": card.live.dash(layer.dash) });
    const label = note(layer.label);
    group.append(label);
    card.over.prepend(line); // below every label
    return () => {
      const { x0, x1, y0, y1 } = card.frame;
      if (layer.y != null) {
        const y = card.py(layer.y);
        set(line, { x1: x0, x2: x1, y1: y, y2: y });
        /** @type {Place[][]} */
        const sides = [
          [[x0 + 6, y - 6, "start"], [x0 + 6, y + 14, "start"]],
          [[x1 - 6, y - 6, "end"], [x1 - 6, y + 14, "end"]],
        ];
        if (layer.side === "right") sides.reverse();
        /** @type {Place[]} */
        const inside = [0.25, 0.5, 0.75].flatMap((share) => [-6, 14].map((up) =>
          /** @type {Place} */ ([x0 + share * (x1 - x0), y + up, "middle"])));
        const above = [22, 38].flatMap((up) => sides.map(([[x, , anchor]]) =>
          /** @type {Place} */ ([x, y - up, anchor])));
        card.settle(label, [...sides.flat(), ...inside, ...above]);
        return;
      }
      const x = card.px(layer.x);
      const there = x >= x0 - 1 && x <= x1 + 1;
      setVisible(line, there);
      if (!setVisible(group, there)) return;
      set(line, { x1: x, x2: x, y1: y0, y2: y1 });
      const heights = [];
      for (let y = y1 - 6; y > y0; y -= 15) heights.push(y);
      card.settle(label, [
        ...heights.map((y) => /** @type {Place} */ ([x + 5, y, "start"])),
        ...heights.map((y) => /** @type {Place} */ ([x - 5, y, "end"])),
      ]);
    };
  },
};
