// @ts-check
// Points with names, none over another. Muted ones are for orientation.

import { note, put, set, setVisible, svg } from "./dom.js";
import { colour, finite } from "./format.js";
import { besidePoints } from "./labels.js";
import { xyAt } from "./steps.js";

const BOLD = 1.12; // how much wider a bold name is

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
      const widths = marks.map(({ label }) => BOLD * card.widest([label.textContent ?? ""]));
      const spots = marks.map((_, k) => {
        const [x, y] = [card.px(xs[k]), card.py(ys[k])];
        return finite(x) && finite(y) ? /** @type {[number, number]} */ ([x, y]) : null;
      });
      const places = muted ? [] : besidePoints(spots, widths, card.frame);
      marks.forEach(({ mark, label }, k) => {
        const [spot, place] = [spots[k], places[k]];
        setVisible(mark, spot !== null);
        setVisible(label, Boolean(place));
        if (!spot) return;
        const [x, y] = spot;
        set(mark, { transform: `translate(${x} ${y}) scale(${muted ? 0.42 : 1})` });
        if (muted) card.settle(label, [[x + 6, y + 4, "start"], [x - 6, y + 4, "end"]]);
        else if (place) put(label, ...place);
      });
    };
  },
};
