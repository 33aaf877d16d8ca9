// @ts-check
// Every kind of layer by the name that a scene gives it.

import { bars } from "./bars.js";
import { cells } from "./cells.js";
import { columns } from "./columns.js";
import { cursor } from "./cursor.js";
import { curve } from "./curve.js";
import { density } from "./density.js";
import { ellipses } from "./ellipses.js";
import { guess, handle } from "./guess.js";
import { heatmap } from "./heatmap.js";
import { labelledPoints } from "./labelled_points.js";
import { marginals } from "./marginals.js";
import { points } from "./points.js";
import { ranked } from "./ranked.js";
import { ring } from "./ring.js";
import { rule } from "./rule.js";
import { tail } from "./tail.js";

/** @type {Record<string, import("./types.js").LayerKind>} */
export const LAYERS = {
  bars, cells, columns, cursor, curve, density, ellipses, guess, handle, heatmap,
  labelled_points: labelledPoints, marginals, points, ranked, ring, rule, tail,
};
