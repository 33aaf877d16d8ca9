// @ts-check
// The numbers of a card as lines of a table or a CSV file.

import { csvCell, dated } from "./format.js";
import { LAYERS } from "./layers.js";
import { slice, textAt } from "./steps.js";

/** @import { Layer, Panel, Row } from "./types.js" */

export const COLUMNS = ["layer", "name", "item", "x", "y", "low", "high",
  "cov_xx", "cov_xy", "cov_yy", "half_x", "half_y", "weight", "value"];

const AXES = /** @type {const} */ (["x", "y"]);

/**
 * Lines of a layer at a step: of the fields that it names for its columns, or what its kind says.
 * @param {Layer} layer
 * @param {number} step
 * @returns {Row[]}
 */
export function layerRows(layer, step) {
  const { rows } = LAYERS[layer.kind];
  if (rows) return rows(layer, step);
  const columns = Object.entries(layer.table).filter(([, field]) => layer[field] != null)
    .map(([column, field]) =>
      ({ column, values: [slice(layer[field], step, layer.depth)].flat() }));
  return (columns[0]?.values ?? []).map((_, i) => ({
    layer: layer.title,
    name: layer.names?.[i] ?? (layer.name || textAt(layer.label, step)),
    item: i + 1,
    ...Object.fromEntries(columns.map(({ column, values }) => [column, values[i]])),
  }));
}

/**
 * Lines of a panel at a step.
 * @param {Panel} panel
 * @param {number} step
 */
export const panelRows = (panel, step) => panel.layers.flatMap((layer) => {
  const rows = layerRows(layer, step);
  for (const row of rows) {
    for (const at of AXES) if (at in row) row[at] = dated(row[at], panel[at].days);
  }
  return layer.pinned ? rows.map((row) => ({ ...row, layer: "pinned view" })) : rows;
});

/**
 * The columns in which some line has something.
 * @param {Row[]} rows
 */
export const filledColumns = (rows) =>
  COLUMNS.filter((name) => rows.some((row) => row[name] != null && row[name] !== ""));

/**
 * A CSV file; its first column is the step's value.
 * @param {Row[]} rows
 * @param {string} symbol name of the step
 * @param {number} value of the step
 */
export function csvOf(rows, symbol, value) {
  const lines = rows.map((row) => [value, ...COLUMNS.map((name) => csvCell(row[name]))].join(","));
  return [[csvCell(symbol), ...COLUMNS].join(","), ...lines, ""].join("\n");
}
