// @ts-check
// Buttons of a card: zoom, the table of its numbers, and files.

import { make } from "./dom.js";
import { formatNumber } from "./format.js";
import { save, savePNG, saveSVG } from "./files.js";
import { csvOf, filledColumns } from "./table.js";

/** @import { Card } from "./card.js" */
/** @import { Row } from "./types.js" */

/**
 * The bar of buttons; the one of the table is handed over, for its pressed state.
 * @param {Card} card
 */
export function toolbar(card) {
  /** @param {string} face @param {string} label @param {() => void} act */
  const button = (face, label, act) => {
    const node = make("button", { type: "button", title: label, "aria-label": label }, [face]);
    node.addEventListener("click", act);
    return node;
  };
  const zoom = [
    button("+", "Zoom in", () => card.zoom(0.7)),
    button("−", "Zoom out", () => card.zoom(1 / 0.7)),
    button("↺", "Reset zoom", () => card.reset()),
  ];
  for (const node of zoom) node.dataset.zoom = "";
  const table = button("Table", "Show the numbers as a table", () => toggleTable(card));
  const bar = make("div", { class: "dpl-tools", role: "toolbar", "aria-label": "Figure tools" }, [
    ...zoom,
    table,
    button("CSV", "Download the numbers of this step (CSV)", () => saveCSV(card)),
    button("SVG", "Download the picture (SVG)", () => saveSVG(card)),
    button("PNG", "Download the picture (PNG)", () => savePNG(card)),
  ]);
  return { bar, table };
}

/** @param {Card} card */
function saveCSV(card) {
  const { symbol, steps } = card.live.scene;
  save(card, csvOf(card.rows(), symbol, steps[card.near]), "text/csv", "csv");
}

/** @param {Card} card */
function toggleTable(card) {
  const open = Boolean(card.table.hidden);
  card.table.hidden = !open;
  card.plot.hidden = card.plot.inert = open;
  card.table.style.height = card.plot.style.height;
  card.tableButton.setAttribute("aria-pressed", String(open));
  if (open) fillTable(card);
  else card.layout(card.live.step);
}

/** The numbers of the current step as a table. @param {Card} card */
export function fillTable(card) {
  const { panel, live } = card;
  const rows = card.rows();
  const columns = filledColumns(rows);
  /** @type {Record<string, string>} */
  const heads = { x: panel.x.label, y: panel.y.label };
  const head = columns.map((name) =>
    make("th", { scope: "col" }, [heads[name] ?? name.replace("_", " ")]));
  card.table.replaceChildren(make("table", {}, [
    make("caption", {}, [`${panel.title}, ${live.scene.symbol} = ${live.scene.labels[card.near]}`]),
    make("thead", {}, [make("tr", {}, head)]),
    make("tbody", {}, rows.map((row) => make("tr", {}, columns.map((name) => cell(row[name]))))),
  ]));
}

/** @param {Row[string]} value */
const cell = (value) => (typeof value === "number"
  ? make("td", { class: "dpl-number" }, [formatNumber(value)]) : make("td", {}, [value ?? ""]));
