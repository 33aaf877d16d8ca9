// @ts-check
// Elements of the page. Text goes in as text nodes: nothing in a scene can become markup.

/** @import { Anchor } from "./types.js" */
/** @typedef {Record<string, string | number>} Attributes */
/** @typedef {(Node | string)[]} Children */

export const SVG = "http://www.w3.org/2000/svg";

/**
 * Sets attributes.
 * @template {Element} T
 * @param {T} node
 * @param {Attributes} attributes
 */
export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
}

/**
 * An element with attributes and children.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {Children} [children]
 */
export function make(tag, attributes = {}, children = []) {
  const node = document.createElement(tag);
  node.append(...children);
  return set(node, attributes);
}

/**
 * The same in a picture.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {Children} [children]
 */
export function svg(tag, attributes = {}, children = []) {
  const node = document.createElementNS(SVG, tag);
  node.append(...children);
  return set(node, attributes);
}

/** A muted text. */
export const note = (text = "") => svg("text", { class: "dpl-note" }, [text]);

/**
 * Puts a text at a place.
 * @template {Element} T
 * @param {T} node
 * @param {number} x
 * @param {number} y
 * @param {Anchor} [anchor]
 */
export const put = (node, x, y, anchor = "start") => set(node, { x, y, "text-anchor": anchor });

/**
 * Shows an element or hides it; returns which.
 * @param {HTMLElement | SVGElement} node
 * @param {boolean} visible
 */
export function setVisible(node, visible) {
  node.style.display = visible ? "" : "none";
  return visible;
}

/**
 * `**bold**` is the only markup that a text may hold; everything else is plain text.
 * @param {string} text
 */
export const boldParts = (text) =>
  text.split("**").map((part, i) => (i % 2 ? make("strong", {}, [part]) : part));

/**
 * Calls `move` while the pointer that is down on an element moves, and `drop` when it lets go.
 * @param {Element} node
 * @param {PointerEvent} down
 * @param {(event: PointerEvent) => void} move
 * @param {() => void} drop
 */
export function drag(node, down, move, drop) {
  const moved = /** @type {EventListener} */ (move);
  node.setPointerCapture(down.pointerId);
  node.addEventListener("pointermove", moved);
  node.addEventListener("lostpointercapture", () => {
    node.removeEventListener("pointermove", moved);
    drop();
  }, { once: true });
}

/**
 * The drawing surface of a canvas.
 * @param {HTMLCanvasElement} canvas
 */
export const penOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
