// @ts-check
// A page that needs no server: its pictures follow sliders of the browser, and what is set stands
// behind the # of its address, where a link keeps it.

import { boldParts, setVisible } from "./dom.js";
import { Live } from "./live.js";
import { Path } from "./path.js";
import { Presenter } from "./presenter.js";

/** @import { Picture, Scene } from "./types.js" */
/**
 * What the page holds: its figures, each with the scenes of the sliders that it follows; the word
 * for a slider in links, by its CSS class; the word by which a link hides a panel, by its id.
 * @typedef {{ figures: Picture[][], words: Record<string, string>, hides: Record<string, string> }} Stored
 */

/**
 * The position of a slider nearest to a value above 0, on a log scale.
 * @param {Pick<Scene, "steps" | "positions">} scene
 * @param {number} value
 */
export function positionNear({ steps, positions }, value) {
  const away = positions.map((step) => Math.abs(Math.log(steps[step] / value)));
  return away.indexOf(Math.min(...away));
}

/**
 * The picture as it opens at a position of its slider; where its own thumb is, its own step stands,
 * which may lie between two positions.
 * @param {Scene} scene
 * @param {number} position
 */
export const openedAt = (scene, position) => (position === scene.thumb
  ? scene : { ...scene, step: scene.positions[position], thumb: position });

/**
 * The picture without the panels that a link hides.
 * @param {Scene} scene
 * @param {string[]} hidden words
 * @param {Record<string, string>} hides word by panel
 */
export const uncovered = (scene, hidden, hides) => ({
  ...scene,
  id: [scene.id, ...hidden].join(" "),
  panels: scene.panels.filter(({ id }) => !hidden.includes(hides[id])),
});

/**
 * Which slider an address names, and where on it: the first of those named, else none.
 * @param {URLSearchParams} address
 * @param {Picture[]} pictures
 * @param {Record<string, string>} words
 */
export function namedIn(address, pictures, words) {
  for (const { slider, scene } of pictures) {
    const value = Number(address.get(words[slider]));
    if (value > 0 && value < Infinity) return { slider, position: positionNear(scene, value) };
  }
  return null;
}

class Site {
  /** @param {Stored} stored @param {HTMLElement[]} places where the figures go */
  constructor(stored, places) {
    this.stored = stored;
    this.pictures = stored.figures[0];
    this.figures = places.map((place) => new Live(place));
    /** @type {Map<string, HTMLInputElement>} by the CSS class of its box */
    this.inputs = new Map();
    for (const { slider } of this.pictures) this.listen(slider);
    this.open();
    window.addEventListener("hashchange", () => this.open());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.open());
  }

  /** Follow a slider. @param {string} name its CSS class */
  listen(name) {
    const box = document.querySelector(`.${CSS.escape(name)}`);
    const input = box?.querySelector("input");
    if (!box || !input) return;
    this.inputs.set(name, input);
    // A slider's scenes hold the others where the page opened: they go back there.
    const choose = () => { if (this.slider !== name) this.show(name, Number(input.value)); };
    box.addEventListener("pointerdown", choose);
    input.addEventListener("keydown", choose);
    input.addEventListener("input", () => { choose(); this.tell(name); });
    input.addEventListener("change", () => this.keep());
  }

  get address() {
    return new URLSearchParams(location.hash.slice(1));
  }

  /** As the address says. */
  open() {
    const scheme = this.address.get("theme") ?? "";
    if (["light", "dark"].includes(scheme)) document.documentElement.dataset.scheme = scheme;
    const [{ slider, scene }] = this.pictures;
    const named = namedIn(this.address, this.pictures, this.stored.words);
    this.show(named?.slider ?? slider, named?.position ?? scene.thumb);
    this.link();
  }

  /** The pictures of one slider at a position; all others as they open.
   * @param {string} name @param {number} position */
  show(name, position) {
    this.slider = name;
    const hidden = this.hide();
    this.stored.figures.forEach((pictures, i) => {
      const opened = pictures.map(({ slider, scene }) => ({
        slider,
        scene: uncovered(
          slider === name ? openedAt(scene, position) : scene, hidden, this.stored.hides),
      }));
      opened.sort((one, other) => Number(other.slider === name) - Number(one.slider === name));
      if (i === 0) for (const { slider, scene } of opened) this.put(slider, scene.thumb);
      this.figures[i].receive({
        data: { pictures: opened },
        setTriggerValue: (_, value) => this.ringMoved(/** @type {{ factor: number }} */ (value)),
      });
    });
  }

  /** @param {string} name @param {number} position */
  put(name, position) {
    const input = this.inputs.get(name);
    if (!input) return;
    input.value = String(position);
    this.tell(name);
  }

  /** Say where a slider is; the picture hears of it. @param {string} name */
  tell(name) {
    const { scene } = /** @type {Picture} */ (this.pictures.find(({ slider }) => slider === name));
    const input = /** @type {HTMLInputElement} */ (this.inputs.get(name));
    const text = scene.labels[openedAt(scene, Number(input.value)).step];
    input.setAttribute("aria-valuetext", text);
    const output = input.parentElement?.querySelector("output");
    if (output) output.textContent = text;
  }

  /** The clipping ring was let go: its slider goes to the stop nearest to it.
   * @param {{ factor: number }} ring */
  ringMoved({ factor }) {
    const clip = this.pictures.find(({ slider }) => this.stored.words[slider] === "clip");
    if (clip) {
      this.show(clip.slider, positionNear(clip.scene, factor));
      this.keep();
    } else this.open();
  }

  /** Write into the address what differs from the opening. */
  keep() {
    const address = this.address;
    for (const { slider, scene } of this.pictures) {
      const word = this.stored.words[slider];
      const position = Number(this.inputs.get(slider)?.value ?? scene.thumb);
      address.delete(word);
      if (position !== scene.thumb) address.set(word, String(scene.steps[scene.positions[position]]));
    }
    this.go(address);
  }

  /** @param {URLSearchParams} address */
  go(address) {
    try {
      history.replaceState(null, "", `#${address.toString().replaceAll("%2C", ",")}`);
    } catch {
      // A page inside another one's text has no address of its own.
    }
    this.link();
  }

  link() {
    const link = document.querySelector("a[data-link]");
    link?.setAttribute("href", location.hash || "#");
  }

  /** What the address hides; a word says so, and a button shows it. */
  hide() {
    const asked = (this.address.get("hide") ?? "").split(",");
    /** @type {HTMLElement | null} */
    const cover = document.querySelector("[data-cover]");
    if (!cover) return [];
    /** @type {Record<string, string>} */
    const known = JSON.parse(cover.dataset.cover ?? "{}");
    const hidden = Object.keys(known).filter((word) => asked.includes(word));
    /** @type {NodeListOf<HTMLElement>} */
    const parts = document.querySelectorAll("[data-hide]");
    for (const part of parts) setVisible(part, !hidden.includes(part.dataset.hide ?? ""));
    cover.hidden = hidden.length === 0;
    const names = hidden.map((word) => known[word]).join(", ").replace(/, ([^,]*)$/, " and $1");
    cover.querySelector("span")?.replaceChildren(
      ...boldParts(`**Hidden by this link:** ${names}. Make a guess first.`));
    const button = cover.querySelector("button");
    if (button) {
      button.onclick = () => {
        const address = this.address;
        address.delete("hide");
        this.go(address);
        this.open();
      };
    }
    return hidden;
  }
}

const store = globalThis.document?.getElementById("scenes"); // tests in Node have no page
if (store) {
  /** @type {NodeListOf<HTMLElement>} */
  const places = document.querySelectorAll("[data-figure]");
  const stored = JSON.parse(store.textContent ?? "");
  if (stored.path) new Path(places[0], true).receive(stored.path);
  else new Site(stored, [...places]);
  const asked = new URLSearchParams(location.hash.slice(1)).get("present");
  new Presenter().show(asked === "1");
}
