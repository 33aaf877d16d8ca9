// @ts-check
// A card's picture as a file of its own: styles written into the elements, no reference outside.

import { make, penOf, set, svg, SVG } from "./dom.js";
import { plainColour } from "./format.js";

/** @import { Card } from "./card.js" */

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity",
  "stroke-dasharray", "font-size", "font-family", "font-weight", "paint-order"];

/** The picture as SVG text. @param {Card} card */
export function svgOf(card) {
  const { width, height } = card.frame;
  const [copy, grid] = [styled(card.svg), styled(card.grid)];
  const style = getComputedStyle(card.root);
  const title = svg("text", { x: 16, y: -16, fill: style.color, "font-size": 15,
    "font-family": style.fontFamily }, [`${card.title.textContent}${card.subtitle.textContent}`]);
  const ground = svg("rect", { y: -40, width, height: height + 40, fill: style.backgroundColor });
  copy.prepend(ground, title, grid);
  if (card.painted.length) {
    card.paint(card.near, 3); // sharp in print too
    grid.after(svg("image", { href: card.canvas.toDataURL(), width, height }));
    card.paint(card.near);
  }
  set(copy, { xmlns: SVG, viewBox: `0 -40 ${width} ${height + 40}`, width, height: height + 40 });
  return new XMLSerializer().serializeToString(copy);
}

/**
 * A copy of an element, with the styles of all that is in it.
 * @template {SVGElement} E
 * @param {E} element
 */
function styled(element) {
  const copy = /** @type {E} */ (element.cloneNode(true));
  const copies = /** @type {NodeListOf<SVGElement>} */ (copy.querySelectorAll("*"));
  element.querySelectorAll("*").forEach((node, i) => {
    const computed = getComputedStyle(node);
    for (const name of STYLES) {
      copies[i].style.setProperty(name, plainColour(computed.getPropertyValue(name)));
    }
  });
  return copy;
}

/** Saves the picture. @param {Card} card */
export const saveSVG = (card) => save(card, svgOf(card), "image/svg+xml", "svg");

/** Saves the picture in twice its size on the screen. @param {Card} card */
export function savePNG(card) {
  const picture = new Image();
  picture.onload = () => {
    const sheet = make("canvas", { width: picture.width * 2, height: picture.height * 2 });
    penOf(sheet).drawImage(picture, 0, 0, sheet.width, sheet.height);
    sheet.toBlob((blob) => blob && save(card, blob, "image/png", "png"));
  };
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgOf(card))}`;
}

/**
 * Hands a file to the browser.
 * @param {Card} card
 * @param {BlobPart} content
 * @param {string} type
 * @param {string} ending
 */
export function save(card, content, type, ending) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: url, download: `${card.panel.id}.${ending}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
