// @ts-check
// The path of lessons: one idea a screen, a mark to drag, a curve to draw before the true one is
// laid over it, and a sentence about the reader's own error.

import { boldParts, make } from "./dom.js";
import { formatNumber } from "./format.js";
import { completed, errorOf } from "./guess.js";
import { Live } from "./live.js";

/** @import { Layer, Numbers, Scene } from "./types.js" */
/**
 * A screen (app/path.py).
 * @typedef {{ name: string, title: string, about: string, ask: string, high: string, low: string,
 *   right: string, after: string, scene: Scene, x: number[], truth: number[], unit: string,
 *   dial: string, handle: { panel: string, x: number[], y: number[] } }} Screen
 */

const KEPT = "dpcore-path";
const CLOSE = 0.03; // mean distance, as a share of the axis, that is as good as right

/** @returns {Record<string, any>} what was drawn in this tab, and where */
function kept() {
  try {
    return JSON.parse(sessionStorage[KEPT] ?? "{}");
  } catch {
    return {};
  }
}

/**
 * What is said of a drawn curve.
 * @param {Screen} screen
 * @param {Numbers} drawn
 */
export function verdict(screen, drawn) {
  const panel = screen.scene.panels.find(({ id }) => id === "guess");
  if (!panel) return "";
  const { share, worst, high } = errorOf(panel.y, drawn, screen.truth);
  if (share < CLOSE) return screen.right;
  /** @param {number | null} value */
  const told = (value) => `${formatNumber(value, 2)}${screen.unit}`;
  return `**You drew ${told(drawn[worst])} where the truth is ${told(screen.truth[worst])}** `
    + `(${panel.x.label.split(" (")[0]} = ${formatNumber(screen.x[worst], 2)}). ${high ? screen.high : screen.low}`;
}

/**
 * The scene with what the reader does in it.
 * @param {Screen} screen
 * @param {Layer} guess
 * @param {(position: number) => void} move
 * @returns {Scene}
 */
export function withHand({ scene, handle }, guess, move) {
  const panels = scene.panels.map((panel) => {
    const layers = [...panel.layers];
    if (panel.id === "guess") layers.push(guess);
    if (panel.id === handle.panel) {
      const { x, y } = handle;
      layers.push({ kind: "handle", moves: true, title: "", table: {}, depth: 0, x, y, move });
    }
    return { ...panel, layers };
  });
  return { ...scene, id: `${scene.id} ${guess.shown}`, panels };
}

export class Path {
  /** @type {Screen[]} */ screens = [];
  /** @type {Map<string, Layer>} what is drawn, by the name of the screen */ guesses = new Map();
  at = 0;
  before = kept();

  /** @param {HTMLElement} parent @param {boolean} addressed whether the address names the screen */
  constructor(parent, addressed = false) {
    this.addressed = addressed;
    this.dots = make("nav", { class: "dpp-dots", "aria-label": "Screens of the path" });
    this.title = make("h2", { tabindex: -1 });
    this.about = make("p");
    this.ask = make("p", { class: "dpp-ask" });
    this.input = make("input", { type: "range", min: 0, step: 1 });
    this.name = make("span");
    this.value = make("output");
    this.dial = make("div", {}, [make("label", {}, [this.name, this.value, this.input])]);
    this.picture = make("div");
    this.told = make("p", { class: "dpp-told", "aria-live": "polite" });
    this.show = this.button("Show the truth", () => this.reveal(), "dpp-first");
    this.again = this.button("Draw again", () => this.reset());
    this.back = this.button("◂ Back", () => this.go(this.at - 1));
    this.large = this.button("Present", () => {}, "dpp-present"); // presenter.js hears of it
    this.next = this.button("Next ▸", () => this.go(this.at + 1));
    this.back.dataset.turns = "back"; // what present mode of the whole page presses
    this.next.dataset.turns = "next";
    this.root = make("section", { class: "dpp" }, [
      this.dots, this.title, this.about, this.ask, this.dial, this.picture, this.told,
      make("div", { class: "dpp-buttons" }, [
        this.back, this.large, this.show, this.again, this.next,
      ]),
    ]);
    parent.append(this.root);
    this.live = new Live(this.picture);
    this.input.addEventListener("input", () => this.tell());
    this.root.addEventListener("keydown", (event) => {
      if (/** @type {HTMLElement} */ (event.target).closest(".dpp-pad, input")) return;
      if (event.key === "ArrowRight") this.go(this.at + 1);
      if (event.key === "ArrowLeft") this.go(this.at - 1);
    });
    if (addressed) window.addEventListener("hashchange", () => this.go(this.named, false));
  }

  /** @param {string} label @param {() => void} act @param {string} kind */
  button(label, act, kind = "") {
    const button = make("button", { type: "button", class: kind }, [label]);
    button.addEventListener("click", act);
    return button;
  }

  get screen() {
    return this.screens[this.at];
  }

  /** @param {string} named of a screen; else this one */
  place(named) {
    const found = this.screens.findIndex(({ name }) => name === named);
    return found < 0 ? this.at : found;
  }

  get named() {
    return this.place(location.hash.slice(1));
  }

  /** @param {Screen[]} screens */
  receive(screens) {
    const held = screens.map(({ scene }) => scene.id).join();
    if (held === this.screens.map(({ scene }) => scene.id).join()) return this.draw(); // the theme
    this.screens = screens;
    this.dots.replaceChildren(...screens.map((_, i) =>
      this.button(String(i + 1), () => this.go(i))));
    screens.forEach(({ title }, i) => { this.dots.children[i].setAttribute("title", title); });
    this.at = this.place(this.before.at);
    if (this.addressed) this.at = this.named;
    return this.open();
  }

  /** @param {number} place @param {boolean} told whether the address learns of it */
  go(place, told = true) {
    if (!this.screens[place]) return;
    this.at = place;
    if (told && this.addressed) history.replaceState(null, "", `#${this.screen.name}`);
    this.open();
    this.title.focus({ preventScroll: true });
  }

  open() {
    const { title, about, ask, dial, scene, name } = this.screen;
    this.title.textContent = `${this.at + 1} · ${title}`;
    this.about.replaceChildren(...boldParts(about));
    this.ask.replaceChildren(...boldParts(`**Your guess.** ${ask}`));
    this.name.textContent = dial;
    this.dial.className = `dpp-dial st-key-path-${name}`;
    this.input.max = String(scene.positions.length - 1);
    this.input.value = String(scene.thumb);
    [...this.dots.children].forEach((dot, i) => {
      if (i === this.at) dot.setAttribute("aria-current", "step");
      else dot.removeAttribute("aria-current");
      dot.classList.toggle("dpp-done", !!this.before[this.screens[i].name]?.shown);
    });
    this.back.disabled = this.at === 0;
    this.next.disabled = this.at === this.screens.length - 1;
    this.draw();
    this.tell();
  }

  /** What is drawn on this screen. */
  get guess() {
    const { name, x, truth } = this.screen;
    let layer = this.guesses.get(name);
    if (!layer) {
      const { drawn, shown } = this.before[name] ?? {};
      layer = {
        kind: "guess", moves: false, title: "", table: {}, depth: 0, x, truth,
        drawn: x.map((_, i) => drawn?.[i] ?? null), shown: !!shown,
        changed: () => this.words(),
      };
      this.guesses.set(name, layer);
    }
    return layer;
  }

  draw() {
    const { name } = this.screen;
    const scene = withHand(this.screen, this.guess, (position) => {
      this.input.value = String(position);
      this.tell();
    });
    scene.step = scene.positions[Number(this.input.value)]; // where the mark stands, it stays
    this.live.receive({
      data: { pictures: [{ scene, slider: `st-key-path-${name}` }] }, setTriggerValue() {},
    });
    this.words();
  }

  /** Say where the slider is; the picture hears of it. */
  tell() {
    const { labels, positions } = this.screen.scene;
    const text = labels[positions[Number(this.input.value)]];
    this.input.setAttribute("aria-valuetext", text);
    this.value.textContent = text;
  }

  /** The sentence about the reader's curve, and which buttons there are. */
  words() {
    const { guess: { shown, drawn }, screen: { name } } = this;
    this.show.disabled = !drawn.some(Number.isFinite);
    this.show.hidden = shown;
    this.again.hidden = !shown;
    const text = shown ? `${verdict(this.screen, drawn)} ${this.screen.after}` : "";
    if (this.told.textContent !== text.replaceAll("**", "")) {
      this.told.replaceChildren(...boldParts(text));
    }
    Object.assign(this.before, { at: name, [name]: { drawn, shown } });
    try {
      sessionStorage[KEPT] = JSON.stringify(this.before);
    } catch { /* none */ }
  }

  reveal() {
    this.guess.drawn = completed(this.guess.drawn);
    this.guess.shown = true;
    this.dots.children[this.at].classList.add("dpp-done");
    this.draw();
  }

  reset() {
    this.guesses.delete(this.screen.name);
    delete this.before[this.screen.name];
    this.draw();
  }

  remove() {
    this.live.remove();
    this.root.remove();
  }
}
