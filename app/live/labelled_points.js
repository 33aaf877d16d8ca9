// @ts-check
// Points with names. Muted ones, for orientation, are labelled where there is room.

import { note, put, set, setVisible, svg } from "./dom.js";
import { colour, finite } from "./format.js";
import { xyAt } from "./steps.js";

/** @type {import("./types.js").LayerKind} */
export const labelledPoints = {
  clipped: true,
  build(card, layer, group) {
    const muted = !layer.colours.length;
    const { markers } = card.live.scene.palette;
    /** @type {string[]} */
    const names = layer.names;
    const marks = names.map((name, k) => {
      const index = layer.colours[k];
      const mark = svg("path", {
        class: muted ? "dpl-place" : "dpl-spot",
        d: markers[index ?? 0], fill: colour(index), "data-spot": name,
      });
      const text = layer.labels[k];
      const label = muted ? note(text) : svg("text", { class: "dpl-label" }, [text]);
      group.append(mark, label);
      return { mark, label };
    });
    return (step) => {
      const [xs, ys] = xyAt(layer, step);
      marks.forEach(({ mark, label }, k) => {
        const [x, y] = [card.px(xs[k]), card.py(ys[k])];
        const complete = finite(x) && finite(y);
        for (const node of [mark, label]) setVisible(node, complete);
        if (!complete) return;
        set(mark, { transform: `translate(${x} ${y}) scale(${muted ? 0.42 : 1})` });
        if (muted) card.settle(label, [[x + 6, y + 4, "start"], [x - 6, y + 4, "end"]]);
        else put(label, x + 8, y - 5);
      });
    };
  },
};
