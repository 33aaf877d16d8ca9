// @ts-check
// What a layer or a text is at one step of the slider; the scene holds every step, and nothing is
// interpolated between two of them.

/** @import { Numbers, Text, Texts } from "./types.js" */

/**
 * The text of a step.
 * @param {Text | undefined} text
 * @param {number} step
 */
export const textAt = (text, step) => (Array.isArray(text) ? text[step] : text) ?? "";

/**
 * The texts of a step.
 * @param {Texts} texts
 * @param {number} step
 */
export const textsAt = (texts, step) =>
  /** @type {string[]} */ (Array.isArray(texts[0]) ? texts[step] : texts);

/**
 * One step of an array whose step has `depth` dimensions; what does not move is as it is.
 * @param {any[]} array
 * @param {number} step
 * @param {number} depth
 * @returns {any}
 */
export function slice(array, step, depth) {
  let dimensions = 0;
  for (let inner = array; Array.isArray(inner); inner = inner[0]) dimensions += 1;
  return dimensions > depth ? array[array.length === 1 ? 0 : step] : array;
}

/**
 * Coordinates of a layer at a step.
 * @param {{ x: any[], y: any[] }} layer
 * @param {number} step
 * @returns {[Numbers, Numbers]}
 */
export const xyAt = (layer, step) => [slice(layer.x, step, 1), slice(layer.y, step, 1)];

/**
 * Cells of a heatmap at a step, one byte each, image after image.
 * @param {{ bytes: Uint8Array, shape: number[] }} layer
 * @param {number} step
 */
export function cellsAt({ bytes, shape: [steps, ...sizes] }, step) {
  const size = sizes.reduce((a, b) => a * b);
  const first = (steps > 1 ? step : 0) * size;
  return bytes.subarray(first, first + size);
}

/**
 * The layers that are drawn anew at a step, beside those that stay as they are.
 * @template {{ moves: boolean }} T
 * @param {T[]} layers
 */
export const moving = (layers) => layers.filter((layer) => layer.moves);
