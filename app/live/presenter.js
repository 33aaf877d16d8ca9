// @ts-check
// Present mode: one card at a time in large type, turned by keys. The style sheets of the page hide
// what is neither the card nor its sliders and sentences. The path of lessons is one card, which
// turns its own screens before the next card comes.

import { clamp } from "./format.js";
import { make } from "./dom.js";

const HERE = "here"; // marks the cards that are shown
const FIELDS = "input:not([type=range]), textarea, select, [contenteditable], [role=combobox], [role=listbox]";
const STEERED = "input[type=range], [role], svg [tabindex]"; // has its own use for arrow keys
const TOLD = "dp-present"; // event of the window: cards have other room now

/**
 * Cards by what is shown together: a pair of panels that share their axes is one picture.
 * @template {{ dataset: DOMStringMap }} T
 * @param {T[]} cards
 * @returns {T[][]}
 */
export function slidesOf(cards) {
  /** @type {T[][]} */
  const slides = [];
  for (const card of cards) {
    const last = slides.at(-1);
    if (last && card.dataset.link && last[0].dataset.link === card.dataset.link) last.push(card);
    else slides.push([card]);
  }
  return slides;
}

export class Presenter {
  at = 0;
  asked = 0;

  constructor() {
    this.root = document.documentElement;
    this.where = make("output");
    /** @param {string} face @param {string} label @param {() => void} act */
    const button = (face, label, act) => {
      const node = make("button", { type: "button", "aria-label": label, title: label }, [face]);
      node.addEventListener("click", act);
      return node;
    };
    this.bar = make("nav", { class: "dp-presenting", "aria-label": "Present mode" }, [
      button("◂", "Previous card", () => this.turn(-1)),
      this.where,
      button("▸", "Next card", () => this.turn(1)),
      button("Close", "Leave present mode (Escape)", () => this.show(false)),
    ]);
    this.page = new MutationObserver(() => {
      this.asked ||= requestAnimationFrame(() => { this.asked = 0; this.mark(); });
    });
    // Before a slider hears of it, which pages too.
    document.addEventListener("keydown", (event) => this.key(event), true);
    document.addEventListener("click", ({ target }) => {
      if (target instanceof Element && target.closest(".dp-present, .dpp-present")) this.show(true);
    });
  }

  get shown() {
    return "present" in this.root.dataset;
  }

  /** @returns {HTMLElement[][]} */
  get slides() {
    /** @param {string} what */
    const all = (what) => /** @type {HTMLElement[]} */ ([...document.querySelectorAll(what)]);
    const cards = all(".dpl-card").filter((card) => !card.closest(".dpp, [role=dialog]"));
    const number = (/** @type {HTMLElement} */ one) => Number.parseInt(one.textContent ?? "", 10);
    const questions = all('[class*="st-key-question_"]').sort((a, b) => number(a) - number(b));
    return [...all(".dpp").map((one) => [one]), ...slidesOf(cards), ...questions.map((one) => [one])];
  }

  /** @param {boolean} shown */
  show(shown) {
    if (shown === this.shown) return;
    this.at = 0;
    if (shown) {
      this.root.dataset.present = "";
      (document.querySelector(".stApp") ?? document.body).append(this.bar);
      this.page.observe(document.body, { childList: true, subtree: true });
    } else {
      this.page.disconnect();
      this.bar.remove();
      delete this.root.dataset.present;
    }
    this.mark();
    window.dispatchEvent(new Event(TOLD));
  }

  /** To another screen of the path where it is shown and has one, else to another card.
   * @param {number} by */
  turn(by) {
    const way = by > 0 ? "next" : "back";
    /** @type {HTMLButtonElement | null} */
    const screen = document.querySelector(`.dpp[data-${HERE}] [data-turns=${way}]:enabled`);
    if (screen) return screen.click();
    this.at += by;
    this.mark();
  }

  /** Mark the cards that are shown, and no others. */
  mark() {
    const slides = this.shown ? this.slides : [];
    this.at = clamp(this.at, 0, Math.max(0, slides.length - 1));
    const here = slides[this.at] ?? [];
    let changed = false;
    for (const node of document.querySelectorAll(`[data-${HERE}]`)) {
      if (here.includes(/** @type {HTMLElement} */ (node))) continue;
      node.removeAttribute(`data-${HERE}`);
      changed = true;
    }
    for (const node of here) {
      const kind = here.length > 1 ? "pair" : "alone";
      changed ||= node.dataset[HERE] !== kind;
      node.dataset[HERE] = kind;
    }
    const where = `${this.at + 1} / ${slides.length}`;
    if (this.where.textContent !== where) this.where.textContent = where;
    if (changed) window.dispatchEvent(new Event(TOLD));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { target, key } = event;
    if (!(target instanceof Element) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.closest(FIELDS)) return;
    if (key.toLowerCase() === "p" && (this.shown || this.slides.length)) this.show(!this.shown);
    if (!this.shown) return;
    if (key === "Escape") this.show(false);
    /** @type {Record<string, number>} */
    const pages = { PageDown: 1, PageUp: -1 }; // what a presenter's remote control sends
    /** @type {Record<string, number>} */
    const arrows = target.closest(STEERED) ? {} : { ArrowRight: 1, ArrowLeft: -1 };
    const by = pages[key] ?? arrows[key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    this.turn(by);
  }
}
