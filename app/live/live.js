// @ts-check
// Draws a scene and follows a slider while it is dragged: no round trip. The scene
// (dpcore/figures/scene.py) holds every step; one is chosen, and nothing is interpolated. With
// several scenes, each of a slider of its own, the one is drawn whose slider was touched last.

import { fullRange } from "./axes.js";
import { Card } from "./card.js";
import { boldParts, make, penOf } from "./dom.js";
import { rgb } from "./format.js";
import { Slider, stepOf } from "./slider.js";

/** @import { Delivery, SliderScenes, Panel, Scene, View } from "./types.js" */

const FRAME = 260; // ms that a step of a film stands
const RESTS = 60; // ms at one step after which its fit is asked for
const PATIENCE = 3000; // ms after which it is asked for again
const GESTURE = 250; // ms without a turn of the wheel after which a new gesture begins

/**
 * Whether a ground is dark, by its relative luminance.
 * @param {string} hex
 */
export function isDark(hex) {
  const [r, g, b] = rgb(hex);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 128;
}

/**
 * Panels that share zoom and pan are of one group.
 * @param {Pick<Panel, "id" | "link">} panel
 */
export const groupOf = ({ id, link }) => (link ? `link ${link}` : `panel ${id}`);

/**
 * Ids of cards that a new scene no longer has.
 * @param {Iterable<string>} cards
 * @param {Pick<Panel, "id">[]} panels
 */
export function gone(cards, panels) {
  const ids = new Set(panels.map((panel) => panel.id));
  return [...cards].filter((id) => !ids.has(id));
}

/** @typedef {HTMLElement & { live?: Live }} Root */

export class Live {
  /** @type {Scene} the one that is drawn */ scene;
  /** @type {Slider} that it follows */ slider;
  /** @type {Map<string, Slider>} by the CSS class of its element */ sliders = new Map();
  /** @type {Delivery["setTriggerValue"]} */ send;
  /** @type {Map<string, Card>} by the id of their panel */ cards = new Map();
  /** @type {Map<string, View & { axes: string }>} by group */ views = new Map();
  /** @type {Map<string, number>} where a hand has put a line, by its name */ marks = new Map();
  /** @type {number | null} position that a film shows */ played = null;
  /** @type {string[]} colours of the theme */ palette;
  /** @type {string} colour of its ground */ zero;
  /** @type {number | null} position at which Python's step holds */ pinned = null;
  /** @type {string | null} group whose view has changed */ zoomed = null;
  /** @type {Card | undefined} where the wheel's gesture began */ wheelOwner;
  /** @type {string} */ theme;
  /** @type {string} */ drawn;
  /** @type {ReturnType<typeof setTimeout>} */ timer;
  /** @type {ReturnType<typeof setTimeout>} */ again;
  /** @type {ReturnType<typeof setInterval>} */ film;
  wheeled = -Infinity;
  asked = -Infinity;
  step = 0;
  width = 0;
  updates = 0;
  frameAsked = 0;

  /** @param {HTMLElement} parent */
  constructor(parent) {
    /** @type {Root} */
    this.root = make("div", { class: "dpl" });
    parent.append(this.root);
    this.root.live = this;
    // The width only: a layout may change the height.
    this.size = new ResizeObserver(() => {
      if (this.root.clientWidth !== this.width) this.layout();
    });
    this.size.observe(this.root);
    this.presented = () => this.layout();
    window.addEventListener("dp-present", this.presented);
    // Streamlit may add or replace the slider and the live texts after us.
    this.page = new MutationObserver((records) => {
      if (records.every((record) => this.root.contains(record.target))) return;
      for (const slider of this.sliders.values()) {
        if (!slider.node?.isConnected) slider.bind();
      }
      this.fillLiveText();
    });
    this.page.observe(document.body, { childList: true, subtree: true });
    // One wheel gesture belongs to the place where it began.
    this.wheel = (/** @type {WheelEvent} */ event) => {
      const now = performance.now();
      if (now - this.wheeled > GESTURE) {
        const target = /** @type {Node} */ (event.target);
        this.wheelOwner = [...this.cards.values()].find((card) => card.svg.contains(target));
      }
      this.wheeled = now;
    };
    window.addEventListener("wheel", this.wheel, { capture: true, passive: true });
  }

  /** Called with every new scene, or the same one in a new theme.
   * @param {Pick<Delivery, "data" | "setTriggerValue">} delivery */
  receive({ data, setTriggerValue }) {
    const { pictures } = data;
    this.send = setTriggerValue;
    this.follow(pictures);
    const first = /** @type {Slider} */ (this.sliders.get(pictures[0].slider));
    const held = [...this.sliders.values()].find((slider) => slider.busy);
    this.show(held ?? first, !held);
  }

  /** One slider for each picture. @param {SliderScenes[]} pictures */
  follow(pictures) {
    for (const name of gone(this.sliders.keys(), pictures.map(({ slider }) => ({ id: slider })))) {
      this.sliders.get(name)?.release();
      this.sliders.delete(name);
    }
    this.root.dataset.sliders = pictures.map(({ slider }) => slider).join(" ");
    for (const { scene, slider: name } of pictures) {
      let slider = this.sliders.get(name);
      if (!slider) {
        const made = new Slider(
          (position) => {
            if (made !== this.slider) return;
            this.stop();
            if (position !== this.pinned) this.pinned = null;
            this.ask();
          },
          () => { if (made !== this.slider) this.show(made, true); },
        );
        this.sliders.set(name, (slider = made));
      }
      slider.follow(name, scene);
    }
  }

  /**
   * Draw the picture of a slider.
   * @param {Slider} slider
   * @param {boolean} pinned Python's step holds until the thumb moves
   */
  show(slider, pinned) {
    this.slider = slider;
    this.pinned = pinned ? slider.position : null;
    this.step = this.choose();
    const changed = this.frame();
    const themed = this.paint();
    if (changed) {
      this.rebuild();
      this.asked = -Infinity;
    }
    if (changed || themed) this.layout();
    this.draw();
  }

  /** Takes up the scene of the current step. True if it is another one. */
  frame() {
    const scene = this.slider.at(this.step);
    const changed = scene.id !== this.scene?.id;
    this.scene = scene;
    return changed;
  }

  /** The steps from the first to where the slider is (from its first place: to its last), or
   * back to the slider. */
  play() {
    if (this.played !== null) return this.stop();
    const last = this.slider.position || this.scene.positions.length - 1;
    this.played = 0;
    this.film = setInterval(() => {
      this.played = Number(this.played) + 1;
      if (this.played > last) this.stop();
      this.ask();
    }, FRAME);
    this.playing("■ Stop");
  }

  stop() {
    if (this.played === null) return;
    clearInterval(this.film);
    this.played = null;
    this.playing("▶ Play");
  }

  /** @param {string} face of the button */
  playing(face) {
    for (const { play } of this.cards.values()) play.textContent = face;
    this.ask();
  }

  choose() {
    const { scene, position } = this.slider;
    return scene.positions[this.played ?? -1] ?? stepOf(scene, position, this.pinned);
  }

  /** The theme's palette: Streamlit's own ground tells which. True if it changed. */
  paint() {
    const style = getComputedStyle(this.root);
    const pen = penOf(make("canvas"));
    pen.fillStyle = style.getPropertyValue("--st-background-color").trim() || "#ffffff";
    this.zero = pen.fillStyle; // as #rrggbb
    const name = isDark(this.zero) ? "dark" : "light";
    this.palette = this.scene.palette[name];
    this.palette.forEach((hex, i) => this.root.style.setProperty(`--dpl-c${i}`, hex));
    this.root.dataset.theme = name;
    const theme = `${name} ${style.color} ${this.zero}`;
    const changed = theme !== this.theme;
    this.theme = theme;
    return changed;
  }

  /** Dashes of a palette index. @param {number} index */
  dash(index) {
    return this.scene.palette.dashes[index] || "none";
  }

  /** Colour of a palette index on a canvas. @param {number | null} index */
  ink(index) {
    return index == null ? getComputedStyle(this.root).color : this.palette[index];
  }

  /** Cards stay by their id; zoom stays while the axes are the same. */
  rebuild() {
    const { panels } = this.scene;
    for (const id of gone(this.cards.keys(), panels)) {
      this.cards.get(id)?.root.remove();
      this.cards.delete(id);
    }
    panels.forEach((panel, i) => {
      const card = this.cards.get(panel.id) ?? new Card(this, panel);
      this.cards.set(panel.id, card);
      card.update(panel);
      const here = this.root.children[i] ?? null;
      if (here !== card.root) this.root.insertBefore(card.root, here);
    });
  }

  /** What is visible of a panel. @param {Panel} panel @returns {View} */
  view(panel) {
    const view = this.views.get(groupOf(panel));
    const same = view?.axes === JSON.stringify([panel.x, panel.y]);
    return view && same ? view : { x: fullRange(panel.x), y: fullRange(panel.y) };
  }

  /** @param {Panel} panel @param {View | null} view `null`: as it opens */
  setView(panel, view) {
    const group = groupOf(panel);
    if (view) this.views.set(group, { ...view, axes: JSON.stringify([panel.x, panel.y]) });
    else this.views.delete(group);
    this.zoomed = group;
    this.ask();
  }

  /** Every ring of a name, on whichever card. @param {string} name @param {number} factor */
  resizeRings(name, factor) {
    for (const { rings } of this.cards.values()) {
      for (const ring of rings) if (ring.name === name) ring.resize(factor);
    }
  }

  layout() {
    this.width = this.root.clientWidth;
    for (const card of this.cards.values()) card.layout(this.step);
  }

  /** One redraw a frame, however many events arrive. */
  ask() {
    if (this.frameAsked) return;
    this.frameAsked = requestAnimationFrame(() => {
      this.frameAsked = 0;
      if (!this.scene) return;
      for (const card of this.cards.values()) {
        if (this.zoomed === groupOf(card.panel)) card.layout(this.step);
      }
      this.zoomed = null;
      this.draw();
    });
  }

  draw() {
    const began = performance.now();
    this.step = this.choose();
    if (this.frame()) {
      this.rebuild();
      this.layout();
    }
    if (this.drawn !== this.mark()) {
      for (const card of this.cards.values()) card.step(this.step);
      this.updates += 1;
      this.drawn = this.mark();
      Object.assign(this.root.dataset, {
        step: this.step,
        epsilon: this.label(),
        scene: this.scene.id,
        updates: this.updates,
        ms: (performance.now() - began).toFixed(2),
      });
    }
    this.fillLiveText();
    this.want();
  }

  /** Asks for the fit of the step where a hand rests, if it is still to come: one question at a
   * time, the next after a new scene. */
  want() {
    clearTimeout(this.again);
    const { slider, scene, step } = this;
    const late = scene.panels.some(({ nearest }) => (nearest?.[step] ?? step) !== step);
    if (!late || !slider.busy) return;
    this.again = setTimeout(() => {
      if (!slider.busy) return;
      this.asked = performance.now();
      this.send("wanted", { slider: slider.name, value: scene.steps[step] });
      this.want();
    }, Math.max(RESTS, this.asked + PATIENCE - performance.now()));
  }

  /** Names a step of a scene. */
  mark() {
    return `${this.scene.id} ${this.step}`;
  }

  label() {
    return this.scene.labels[this.step];
  }

  /** Whether it fills texts of a name: the last on the page that has them does, or two would in turn
   * for ever. @param {string | undefined} name */
  says(name = "") {
    /** @type {NodeListOf<Root>} */
    const roots = document.querySelectorAll(".dpl");
    return [...roots].findLast(({ live }) => live?.scene?.live_text[name]) === this.root;
  }

  /** Texts elsewhere on the page that follow the slider. */
  fillLiveText() {
    if (!this.scene) return;
    const mark = this.mark();
    /** @type {NodeListOf<HTMLElement>} */
    const nodes = document.querySelectorAll("[data-live]");
    for (const node of nodes) {
      if (!this.says(node.dataset.live)) continue;
      if (node.dataset.liveStep === mark && node.hasChildNodes()) continue;
      const texts = this.scene.live_text[node.dataset.live ?? ""];
      node.dataset.liveStep = mark;
      node.replaceChildren(...boldParts(texts[this.step]));
    }
    /** @type {NodeListOf<HTMLElement>} */
    const bars = document.querySelectorAll("[data-live-width]");
    for (const bar of bars) {
      const widths = this.scene.live_text[bar.dataset.liveWidth ?? ""];
      if (!this.says(bar.dataset.liveWidth) || bar.style.width === widths[this.step]) continue;
      bar.style.width = widths[this.step];
    }
  }

  /** Work that may wait until the hand rests. @param {() => void} work */
  later(work) {
    clearTimeout(this.timer);
    this.timer = setTimeout(work, 120);
  }

  remove() {
    cancelAnimationFrame(this.frameAsked);
    clearTimeout(this.timer);
    clearTimeout(this.again);
    clearInterval(this.film);
    for (const slider of this.sliders.values()) slider.release();
    this.size.disconnect();
    this.page.disconnect();
    window.removeEventListener("wheel", this.wheel, { capture: true });
    window.removeEventListener("dp-present", this.presented);
    this.root.remove();
  }
}
