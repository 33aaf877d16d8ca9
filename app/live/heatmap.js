// @ts-check
// Images of cells in two colours around zero: one byte a cell, 1 to 255 for -limit to limit, 0 for
// no number.

import { make, note, penOf, put, set, svg } from "./dom.js";
import { clamp, rgb } from "./format.js";
import { cellsAt, textsAt } from "./steps.js";

/** @import { Frame, Rectangle, Row } from "./types.js" */

const CRAMPED = 0.8; // of its size, below which a note is shortened
const TINY = 0.6; // of it, below which only numbers stand

/**
 * @typedef {object} Heatmap
 * @property {string} cells base64
 * @property {Uint8Array} bytes the same, once they are read
 * @property {number[]} shape steps (or 1), images, rows, columns
 * @property {number | number[]} limit
 * @property {boolean} above whether no cell is below zero
 * @property {string[]} rows names of the rows of a table
 * @property {string[]} names of the images
 * @property {string[] | string[][]} notes
 * @property {string[] | string[][]} ends of the key
 * @property {string} [outlines] of bars, as cells are
 * @property {Uint8Array} [edges] the same, once they are read
 * @property {number} across images side by side
 */

/**
 * Where the images and their key lie; a table's columns touch.
 * @param {Pick<Heatmap, "shape" | "rows" | "across">} layer
 * @param {Frame} frame
 * @param {number} names width of the longest name of a row
 * @returns {{ tiles: Rectangle[], key: Rectangle }}
 */
export function tilesOf({ shape: [, count, high, wide], rows, across }, frame, names) {
  const { x0, x1, y0, y1 } = frame;
  const left = Math.min(x1, x0 + (rows.length && names + 8));
  const [cell, floor] = [(x1 - left) / across, (y1 - y0 - 26) / Math.ceil(count / across)];
  const size = Math.min((cell - 10) / wide, (floor - 20) / high);
  const [width, height] = rows.length ? [cell, floor - 20] : [size * wide, size * high];
  const tiles = Array.from({ length: count }, (_, i) => ({
    x: left + ((i % across) + 0.5) * cell - width / 2,
    y: y0 + 6 + Math.floor(i / across) * floor, width, height,
  }));
  return { tiles, key: { x: x0 + 44, y: y1 - 10, width: 90, height: 9 } };
}

/**
 * Which cell lies at shares of an image from its left and top.
 * @param {number[]} shape
 * @param {number} tile
 * @param {number} u
 * @param {number} v
 */
export function cellAt([, , high, wide], tile, u, v) {
  return (tile * high + Math.floor(v * high)) * wide + Math.floor(u * wide);
}

/**
 * The number that a byte stands for.
 * @param {number} byte
 * @param {number} limit
 */
export const cellValue = (byte, limit) =>
  byte ? Number((((byte - 128) / 127) * limit).toPrecision(3)) : null;

/**
 * Every cell as a line of a table.
 * @param {Heatmap} layer
 * @param {number} step
 * @returns {Row[]}
 */
export function cellRows(layer, step) {
  const [, , high, wide] = layer.shape;
  const limit = Array.isArray(layer.limit) ? layer.limit[step] : layer.limit;
  return [...cellsAt(layer, step)].map((byte, i) => {
    const [row, column] = [Math.floor(i / wide) % high, i % wide];
    const where = layer.rows[row] ?? `row ${row + 1}, column ${column + 1}`;
    const name = `${layer.names[Math.floor(i / wide / high)]}: ${where}`;
    return { layer: "cell", name, item: i + 1, value: cellValue(byte, limit) };
  });
}

/**
 * All images of a step, one below another, a pixel a cell.
 * @param {Heatmap} layer
 * @param {number} step
 * @param {string[]} inks of zero, of -limit and of limit
 */
function imageOf(layer, step, inks) {
  const [, count, high, wide] = layer.shape;
  const [zero, low, top] = inks.map(rgb);
  const image = new ImageData(wide, count * high);
  cellsAt(layer, step).forEach((byte, i) => {
    const share = Math.abs(byte - 128) / 127;
    const ink = byte < 128 ? low : top;
    for (let k = 0; k < 3; k += 1) image.data[4 * i + k] = zero[k] + share * (ink[k] - zero[k]);
    image.data[4 * i + 3] = byte && 255;
  });
  const board = make("canvas", { width: wide, height: count * high });
  penOf(board).putImageData(image, 0, 0);
  return board;
}

/** @param {string} cells base64 */
const read = (cells) => Uint8Array.from(atob(cells), (c) => c.charCodeAt(0));

/**
 * The cells of a table as bars from the middle of their column, exact ones as outlines.
 * @param {import("./card.js").Card} card
 * @param {Heatmap} layer
 * @param {number} step
 * @param {CanvasRenderingContext2D} pen
 * @param {Rectangle[]} tiles
 */
function paintBars({ live }, layer, step, pen, tiles) {
  const [cells, high] = [cellsAt(layer, step), layer.shape[2]];
  tiles.forEach(({ x, y, width, height }, i) => {
    const [middle, row] = [x + width / 2, height / high];
    pen.globalAlpha = 0.35;
    pen.fillStyle = pen.strokeStyle = live.ink(null);
    pen.fillRect(middle - 0.5, y, 1, height);
    pen.globalAlpha = 1;
    for (let k = 0; k < high; k += 1) {
      /** @param {number} byte @returns {[number, number, number, number]} */
      const bar = (byte) => [middle, y + (k + 0.2) * row,
        ((byte - 128) / 127) * (width / 2 - 4), row * 0.6];
      const [byte, edge] = [cells[i * high + k], layer.edges?.[i * high + k]];
      pen.fillStyle = live.palette[Number(byte > 128)];
      if (byte) pen.fillRect(...bar(byte));
      if (edge) pen.strokeRect(...bar(edge));
    }
  });
}

/**
 * Notes in the longest form there is room for: whole; without what a percentage is of, and with a
 * sign for a difference; or their numbers alone.
 * @param {string[]} notes
 * @param {{ widest: (texts: string[]) => number }} card
 * @param {number} room
 */
export function fitting(notes, card, room) {
  if (card.widest(notes) * CRAMPED <= room) return notes;
  const short = notes.map((text) => text.replace(/% [a-z]+$/, "%").replace("off by", "Δ"));
  return card.widest(short) * TINY > room + 4 ? notes.map((text) => text.split(" ")[0]) : short;
}

/** @type {import("./types.js").LayerKind} */
export const heatmap = {
  build(card, /** @type {Heatmap} */ layer, group) {
    layer.bytes ??= read(layer.cells);
    if (layer.outlines) layer.edges ??= read(layer.outlines);
    const [names, notes, ends] = [layer.rows, layer.names, ["", ""]].map((texts) =>
      texts.map((text) => group.appendChild(note(text))));
    const boxes = layer.names.map((_, i) => svg("rect", { class: "dpl-tile", "data-tile": i }));
    group.append(...boxes);
    return (step) => {
      const { tiles, key } = tilesOf(layer, card.frame, card.widest(layer.rows));
      const apart = (card.frame.x1 - tiles[0].x) / layer.across - 5; // what a word may take
      const texts = fitting(textsAt(layer.notes, step), card, apart);
      const size = 12 * clamp(apart / card.widest(texts), TINY, 1);
      tiles.forEach(({ x, y, width, height }, i) => {
        set(boxes[i], { x, y, width, height });
        put(notes[i], x + width / 2, y + height + 14, "middle").textContent = texts[i];
        set(notes[i], { style: `font-size: ${size}px` });
      });
      const [{ x, y, height }] = tiles;
      names.forEach((node, i) =>
        put(node, x - 8, y + (height * (i + 0.5)) / names.length + 4, "end"));
      const [low, high] = textsAt(layer.ends, step), right = key.x + key.width + 6;
      // A long text is smaller, or ends early.
      const room = card.frame.x1 - right;
      const top = card.widest([high]) * 0.7 > room ? high.split(";")[0] : high;
      put(ends[0], key.x - 6, key.y + 9, "end").textContent = low;
      put(ends[1], right, key.y + 9).textContent = top;
      set(ends[1], { style: `font-size: ${12 * clamp(room / card.widest([top]), 0.7, 1)}px` });
    };
  },

  paint(card, /** @type {Heatmap} */ layer, step, pen) {
    const { shape: [, , high, wide], edges, above } = layer;
    const { zero, palette: [blue, orange] } = card.live;
    const board = imageOf(layer, step, [zero, blue, orange]);
    const { tiles, key } = tilesOf(layer, card.frame, card.widest(layer.rows));
    pen.imageSmoothingEnabled = false;
    if (edges) paintBars(card, layer, step, pen, tiles);
    else tiles.forEach(({ x, y, width, height }, i) =>
      pen.drawImage(board, 0, i * high, wide, high, x, y, width, height));
    const shade = pen.createLinearGradient(key.x, 0, key.x + key.width, 0);
    const inks = (edges ? [blue, blue, orange, orange] : [blue, zero, orange])
      .slice(above ? (edges ? 2 : 1) : 0);
    inks.forEach((ink, i) => shade.addColorStop(
      edges && !above ? [0, 0.5, 0.5, 1][i] : i / (inks.length - 1), ink));
    pen.fillStyle = shade;
    pen.fillRect(key.x, key.y, key.width, key.height);
  },

  rows: cellRows,
};
