// @ts-check
// Columns that stand on the axis, a shorter one inside each; a click, or Enter, picks one.

import { set, setVisible, svg } from "./dom.js";
import { finite } from "./format.js";

const WIDE = 0.82; // of the room between two columns

/** @type {import("./types.js").LayerKind} */
export const columns = {
  clipped: true,
  build(card, layer, group) {
    /** @type {string[]} */
    const names = layer.names;
    const parts = names.map((name, i) => {
      const [tall, inner, room] = ["tall", "inner", "room"]
        .map((part) => svg("rect", { class: `dpl-${part}` }));
      const column = svg("g", { class: "dpl-column", "data-column": i },
        [svg("title", {}, [name]), tall, inner, room]);
      if (layer.pick) {
        set(column, { role: "button", tabindex: 0, "aria-label": name });
        const pick = () => card.live.send("picked", { name: layer.pick, item: i });
        column.addEventListener("pointerdown", (down) => down.stopPropagation()); // no panning
        column.addEventListener("click", pick);
        column.addEventListener("keydown", (event) => { if (event.key === "Enter") pick(); });
      }
      group.append(column);
      return { tall, inner, room };
    });
    return () => {
      const { y0, y1 } = card.frame;
      const width = WIDE * (card.px(layer.x[0] + 1) - card.px(layer.x[0]));
      parts.forEach(({ tall, inner, room }, i) => {
        const x = card.px(layer.x[i]) - width / 2;
        for (const [bar, value] of /** @type {const} */ ([[tall, "values"], [inner, "inner"]])) {
          const y = card.py(layer[value][i]);
          if (setVisible(bar, finite(y))) set(bar, { x, y, width, height: Math.max(y1 - y, 0) });
        }
        set(room, { x, y: y0, width, height: y1 - y0 });
      });
    };
  },
};
