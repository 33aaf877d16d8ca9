// @ts-check
// Points with names, none over another. Muted ones are for orientation.

import { note, put, set, setVisible, svg } from "./dom.js";
import { colour, finite } from "./format.js";
import { BOLD, besidePoints, firstFree } from "./labels.js";
import { xyAt } from "./steps.js";

/** @import { Box, Place } from "./types.js" */

const CLEAR = 12; // px around a named point that no muted name enters

/**
 * Where muted names go: clear of one another and of the other named points, else nowhere.
 * @param {import("./card.js").Card} card
 * @param {number} step
 * @param {([number, number] | null)[]} spots
 * @param {number[]} widths
 * @param {string} side where each goes if it can
 * @returns {(Place | null)[]}
 */
function quiet(card, step, spots, widths, side) {
  /** @type {Box[]} */
  const taken = card.panel.layers.flatMap((layer) => {
    if (layer.kind !== "labelled_points" || !layer.colours.length) return [];
    const [xs, ys] = xyAt(/** @type {any} */ (layer), step);
    return xs.map((_, k) => [card.px(xs[k]), card.py(ys[k])]).filter(([x, y]) => finite(x) && finite(y))
      .map(([x, y]) => /** @type {Box} */ ([x - CLEAR, x + 2 * CLEAR, y - 2 * CLEAR, y + CLEAR]));
  });
  return spots.map((spot, k) => {
    if (!spot) return null;
    const [x, y] = spot;
    /** @type {Place[]} */
    const places = [[x + 6, y + 4, "start"], [x - 6, y + 4, "end"]];
    if (side === "left") places.reverse();
    const free = firstFree(places, widths[k], card.frame, taken);
    if (free) taken.push(free.box);
    return free && free.place;
  });
}

/** @type {import("./types.js").LayerKind} */
export const labelledPoints = {
  clipped: true,
  build(card, layer, group) {
    const muted = !layer.colours.length;
    const size = muted ? 0.42 : layer.hollow ? 1.3 : 1; // a ring is seen around a disc
    const { markers } = card.live.scene.palette;
    /** @type {string[]} */
    const names = layer.names;
    const marks = names.map((name, k) => {
      const index = layer.colours[k];
      const mark = svg("path", {
        class: muted ? "dpl-place" : layer.hollow ? "dpl-spot dpl-hollow" : "dpl-spot",
        d: markers[index ?? 0], fill: colour(index), "data-spot": name,
      });
      const text = layer.labels[k];
      const label = muted ? note(text) : svg("text", { class: "dpl-label" }, [text]);
      group.append(mark, label);
      return { mark, label };
    });
    return (step) => {
      const [xs, ys] = xyAt(layer, step);
      const widths = marks.map(({ label }) => (muted ? 0.86 : BOLD) * card.widest([label.textContent ?? ""]));
      const spots = marks.map((_, k) => {
        const [x, y] = [card.px(xs[k]), card.py(ys[k])];
        return finite(x) && finite(y) ? /** @type {[number, number]} */ ([x, y]) : null;
      });
      const places = muted ? quiet(card, step, spots, widths, layer.side) : besidePoints(spots, widths, card.frame);
      marks.forEach(({ mark, label }, k) => {
        const [spot, place] = [spots[k], places[k]];
        setVisible(mark, spot !== null);
        setVisible(label, Boolean(place));
        if (!spot) return;
        const [x, y] = spot;
        set(mark, { transform: `translate(${x} ${y}) scale(${size})` });
        if (place) put(label, ...place);
      });
    };
  },
};
