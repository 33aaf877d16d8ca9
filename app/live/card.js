// @ts-check
// One card: a panel of the scene with its axes, its layers and what the pointer does to them.

import { fullRange, panned, pixels, ticksOf, tickText, valueAt, wheelFactor, zoomed } from "./axes.js";
import { derivation } from "./derivation.js";
import { drag, make, penOf, put, set, setVisible, svg } from "./dom.js";
import { clamp, finite, inkOf } from "./format.js";
import { gridOf, ROOM } from "./grid.js";
import { boxOfMark, curveBoxes, firstFree, spread } from "./labels.js";
import { LAYERS } from "./layers.js";
import { tallness } from "./ranked.js";
import { hover } from "./readout.js";
import { moving, slice, textAt } from "./steps.js";
import { panelRows } from "./table.js";
import { fillTable, toolbar } from "./toolbar.js";

/** @import { Live } from "./live.js" */
/** @import { Box, Frame, Layer, Panel, Place, Ring, Scale, View } from "./types.js" */
/** @typedef {{ layer: Layer, text: SVGTextElement, key: SVGLineElement }} EndLabel */

const MARGIN = { left: 62, right: 18, top: 10, bottom: 44 }; // px around the axes
const GAP = 16; // px between end labels of curves
const KEY_LEFT = 12; // px from a card's edge to the keys of labels below the axes
const BESIDE = 0.4; // share of a card's width that they may take; else they stand below the axes
const HEADING = 52; // px of a card's height above its plot, with one line of caption,
const LINE = 24; // of so many px; beside another card a second line takes from the plot
const BESIDE_WIDTH = 700; // px of a page from which cards stand side by side
const ROW = 44; // px that a bar with its name above it needs at least, and
const UNDER = 90; // px above and below all of them
const TABLE_ROW = 15; // px that a row of a coloured table needs, and
const TABLE_REST = 110; // px above and below all of them
const IMAGES = 260; // px of a card of images, where it has as many
const ROOMY = 1040; // px of a window in which axes have all the height that a scene gives them
const LEAST = 0.76; // of it, however low the window is
const PRESENTED = 0.62; // share of the window's height in present mode
const BARE = 28; // px beside what has no axes
let clips = 0;

/**
 * Height of a card: on a low screen (a laptop, a projector) axes are lower, so that both the panels
 * and the curve are in sight; a card that is presented has most of the screen. Bars and coloured
 * tables need room for their names, images for themselves; what else has no axes is as high as its
 * content.
 * @param {Pick<Panel, "height" | "bare"> & Partial<Pick<Panel, "layers">>} panel
 * @param {number} window its height
 * @param {boolean} presented
 */
export const heightOf = ({ height, bare, layers = [] }, window, presented = false) => {
  const [bars, heat] = ["bars", "heatmap"].map((name) => layers.find(({ kind }) => kind === name));
  if (bare && !bars && (!heat || presented)) return height;
  const high = presented ? PRESENTED * window : height * clamp(window / ROOMY, LEAST, 1);
  const content = bars ? UNDER + ROW * bars.names.length
    : heat?.rows.length ? TABLE_REST + TABLE_ROW * heat.rows.length : IMAGES;
  return Math.round(Math.max(high, bare ? Math.min(height, content) : 0));
};

export class Card {
  /** @type {Panel} */ panel;
  /** @type {Frame} */ frame;
  /** @type {Scale} */ px;
  /** @type {Scale} */ py;
  /** @type {Box[]} what labels may not cover */ taken;
  /** @type {Box[]} what they cover only where they must */ curves;
  /** @type {Ring[]} */ rings;
  /** @type {Layer[]} those on the canvas */ painted;
  /** @type {{ draw: (step: number) => void, moves: boolean }[]} */ layers;
  /** @type {EndLabel[]} */ labels;
  /** @type {string} the lists in its head */ offered;
  /** @type {SVGLineElement} */ hair;
  /** @type {SVGTextElement} */ pin;
  /** @type {number} px right of the axes */ labelRoom;
  /** @type {number} px below the axes for labels */ below = 0;

  /** @param {Live} live @param {Panel} panel */
  constructor(live, panel) {
    this.live = live;
    this.clip = `dpl-clip-${(clips += 1)}`;
    this.title = make("strong");
    this.subtitle = make("span");
    this.caption = make("figcaption", {}, [this.title, this.subtitle]);
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.rect = svg("rect");
    this.grid = svg("g", { class: "dpl-grid" });
    this.body = svg("g", { "clip-path": `url(#${this.clip})` });
    this.over = svg("g");
    this.svg = svg("svg", { role: "img" }, [
      svg("defs", {}, [svg("clipPath", { id: this.clip }, [this.rect])]),
      this.body, this.over,
    ]);
    this.back = svg("svg", { class: "dpl-back", "aria-hidden": "true" }, [this.grid]);
    this.readout = make("div", { class: "dpl-readout", hidden: "" });
    this.plot = make("div", { class: "dpl-plot" }, [this.canvas, this.svg, this.back, this.readout]);
    this.table = make("div", { class: "dpl-table", tabindex: 0, hidden: "" });
    const { bar, table } = toolbar(this);
    this.tableButton = table;
    this.play = make("button", { type: "button", class: "dpl-play" }, ["▶ Play"]);
    this.play.addEventListener("click", () => live.play());
    this.derived = make("div", { class: "dpl-derived", hidden: "" });
    this.choices = make("div", { class: "dpl-choices" });
    this.root = make("figure", { class: "dpl-card", "data-panel": panel.id }, [
      this.caption, this.choices, this.play, bar, this.plot, this.derived, this.table,
    ]);
    this.listen();
  }

  /** New layers in the same card: zoom and focus stay. @param {Panel} panel */
  update(panel) {
    this.panel = panel;
    this.root.classList.toggle("dpl-full", panel.width === "full");
    this.root.classList.toggle("dpl-bare", panel.bare);
    this.root.dataset.link = panel.link ?? "";
    setVisible(this.play, panel.film);
    this.offer();
    this.title.textContent = panel.title;
    this.painted = panel.layers.filter((layer) => LAYERS[layer.kind].paint);
    setVisible(this.canvas, this.painted.length > 0);
    this.body.replaceChildren();
    this.over.replaceChildren();
    this.rings = [];
    this.derived.hidden = !panel.layers.some(({ names, derivations }) =>
      derivations?.[names.indexOf(this.derived.dataset.name)]?.length);
    this.layers = panel.layers.map((layer) => this.built(layer));
    // Children of a picture are not read out; rings, tails and guesses are sliders, a column a button.
    const active = this.rings.length > 0
      || panel.layers.some(({ kind, pick, derivations }) =>
        pick || kind === "tail" || kind === "guess" || derivations?.length);
    this.svg.setAttribute("role", active ? "group" : "img");
    this.hair = svg("line", { class: "dpl-hair", visibility: "hidden" });
    this.labels = panel.layers
      .filter(({ kind, label, label_at }) => kind === "curve" && label_at === "end" && label.length)
      .map((layer) => this.endLabel(layer));
    this.pin = svg("text", { class: "dpl-note dpl-pinned" }, [panel.pin ?? ""]);
    this.over.append(this.hair, this.pin);
  }

  /** The lists in its head; they stay, with focus, where nothing else can be chosen. */
  offer() {
    const { choices } = this.panel;
    const offered = JSON.stringify(choices);
    if (this.offered === offered) return;
    this.offered = offered;
    this.choices.replaceChildren(...choices.map(({ name, label, options, at }) => {
      const list = make("select", { "aria-label": label, title: label, "data-choice": name },
        options.map((text) => make("option", {}, [text])));
      list.selectedIndex = at;
      list.addEventListener("change", () =>
        this.live.send("picked", { name, item: list.selectedIndex }));
      return list;
    }));
  }

  /** The elements of a layer. @param {Layer} layer */
  built(layer) {
    const { build, clipped } = LAYERS[layer.kind];
    const group = svg("g");
    (clipped ? this.body : this.over).append(group);
    const draw = build?.(this, layer, group) ?? (() => {});
    group.classList.toggle("dpl-pin", Boolean(layer.pinned));
    const quiet = layer.kind === "labelled_points" && !layer.colours.length;
    return { draw, moves: layer.moves || quiet }; // quiet names make room for those that move
  }

  /** The label at the end of a curve, with a key to its line. @param {Layer} layer */
  endLabel(layer) {
    const text = svg("text", { class: "dpl-label" });
    const key = svg("line", { class: "dpl-line", "stroke-dasharray": this.live.dash(layer.dash) });
    key.style.stroke = inkOf(layer);
    // Lines need 3:1 against the card, text 4.5:1: mix the colour with the ink.
    text.style.fill = `color-mix(in srgb, ${inkOf(layer)} 55%, var(--dpl-ink))`;
    this.over.append(svg("g", layer.pinned ? { class: "dpl-pin" } : {}, [key]), text);
    return { layer, text, key };
  }

  get presented() {
    return "here" in this.root.dataset;
  }

  /** Width of the longest of some texts as they are drawn. @param {string[]} texts */
  widest(texts) {
    const pen = penOf(this.canvas);
    const large = this.root.closest("[data-here]") !== null; // the card, or what it is a part of
    pen.font = `${large ? 15 : 13}px ${getComputedStyle(this.live.root).fontFamily}`;
    return Math.max(0, ...texts.map((text) => pen.measureText(text).width));
  }

  // ---- drawing

  /** Everything: when size, zoom, theme or scene has changed. @param {number} step */
  layout(step) {
    // For the longest label of any step, so that nothing shifts while the slider moves.
    const longest = this.widest(this.labels.flatMap(({ layer }) => layer.label));
    this.labelRoom = longest && longest + 44;
    this.below = this.labelRoom > this.plot.clientWidth * BESIDE ? this.labels.length * GAP : 0;
    const lists = this.panel.layers.find(({ kind }) => kind === "ranked");
    const rows = lists ? tallness(/** @type {any} */ (lists), this.plot.clientWidth - BARE) : 1;
    const high = rows * heightOf(this.panel, window.innerHeight, this.presented);
    const beside = this.live.root.clientWidth > BESIDE_WIDTH;
    const lines = beside ? this.caption.offsetHeight - LINE : 0;
    const [width, height] = [this.plot.clientWidth, high - HEADING - lines + this.below];
    this.root.style.setProperty("--dpl-choices", `${this.choices.offsetWidth}px`);
    this.plot.style.height = `${height}px`;
    if (!width) return;
    const size = { viewBox: `0 0 ${width} ${height}`, width, height };
    for (const picture of [this.svg, this.back]) set(picture, size);
    if (this.panel.bare) {
      this.frame = { x0: 16, x1: width + 16 - BARE, y0: 2, y1: height - 8, width, height };
      this.grid.replaceChildren();
    } else this.axes(width, height);
    this.taken = this.panel.layers.flatMap(({ kind, y }) => {
      if (kind !== "rule" || y == null) return [];
      const { x0, x1 } = this.frame;
      return [/** @type {Box} */ ([x0, x1, this.py(y) - 1, this.py(y) + 1])];
    });
    const { y0, y1 } = this.frame;
    this.curves = this.panel.bare ? [] : this.panel.layers.flatMap(({ kind, colour, moves, x, y }) => {
      if (kind === "rule" && y == null) return [boxOfMark(this.px(x), y0, y1)];
      return kind === "curve" && colour != null && !moves
        ? curveBoxes(this, slice(x, 0, 1), slice(y, 0, 1)) : [];
    });
    put(this.pin, this.frame.x1 - 6, this.frame.y0 + 12, "end");
    for (const { draw } of this.layers) draw(this.near);
    this.paint(this.near);
    this.texts(step);
  }

  /** The step whose layers stand at the current one: of a fit still to come, the nearest there is. */
  get near() {
    const { step } = this.live;
    return this.panel.nearest?.[step] ?? step;
  }

  /** The axes, and where data units are on the card.
   * @param {number} width @param {number} height */
  axes(width, height) {
    const { x, y, layers } = this.panel;
    const right = Math.max(MARGIN.right, this.below ? 0 : this.labelRoom);
    // A reference near the top has its label above it.
    const y0 = MARGIN.top + (layers.some((layer) => layer.kind === "rule") ? 8 : 0);
    const y1 = height - MARGIN.bottom - this.below;
    const view = this.live.view(this.panel);
    const [x0, x1] = [this.leftRoom(view, y1 - y0), width - right];
    this.frame = { x0, x1, y0, y1, width, height };
    this.px = pixels(x, view.x, x0, x1);
    this.py = pixels(y, view.y, y1, y0);
    set(this.rect, { x: x0, y: y0, width: Math.max(x1 - x0, 0), height: Math.max(y1 - y0, 0) });
    this.grid.replaceChildren(...gridOf(this, view));
  }

  /** Room for the numbers beside an axis, in steps: zooming must not make it jitter.
   * @param {View} view @param {number} height */
  leftRoom(view, height) {
    const { y } = this.panel;
    const ticks = [fullRange(y), view.y].flatMap((range) => ticksOf(y, range, height / ROOM.y));
    const numbers = this.widest(ticks.map((value) => tickText(y, value)));
    if (y.names) return numbers + 16;
    return Math.max(MARGIN.left, 16 * Math.ceil((numbers + 38) / 16));
  }

  /** Only what depends on the step. @param {number} step */
  step(step) {
    if (!this.frame) return;
    for (const { draw } of moving(this.layers)) draw(this.near);
    if (moving(this.painted).length) this.paint(this.near);
    this.texts(step);
  }

  /** The canvas; `ratio`: its pixels for one of the page. @param {number} step */
  paint(step, ratio = window.devicePixelRatio || 1) {
    const { x0, x1, y0, y1, width, height } = this.frame;
    Object.assign(this.canvas, { width: width * ratio, height: height * ratio });
    const pen = penOf(this.canvas);
    pen.scale(ratio, ratio);
    pen.rect(x0, y0, x1 - x0, y1 - y0);
    pen.clip();
    for (const layer of this.painted) {
      pen.save();
      LAYERS[layer.kind].paint?.(this, layer, step, pen);
      pen.restore();
    }
  }

  /** Writes a label at the first of its places where it covers no other and no curve; where each
   * crosses a curve, over that; else not at all.
   * @param {SVGElement} node @param {Place[]} places */
  settle(node, places) {
    const width = this.widest([node.textContent ?? ""]);
    const free = firstFree(places, width, this.frame, [...this.taken, ...this.curves])
      ?? firstFree(places, width, this.frame, this.taken);
    setVisible(node, free !== null);
    if (!free) return;
    this.taken.push(free.box);
    put(node, ...free.place);
  }

  /** Subtitle, alt text, labels and table. @param {number} step */
  texts(step) {
    this.root.classList.toggle("dpl-late", this.near !== step);
    const subtitle = textAt(this.panel.subtitle, step);
    this.subtitle.textContent = subtitle && ` · ${subtitle}`;
    this.svg.setAttribute("aria-label", `${this.panel.title}. ${textAt(this.panel.alt, step)}`);
    this.drawLabels(step);
    if (!this.table.hidden) this.live.later(() => fillTable(this));
  }

  /** Labels at the right end of their curves, pushed apart; or one below the other.
   * @param {number} step */
  drawLabels(step) {
    const { y0, y1, height } = this.frame;
    const x1 = this.below ? KEY_LEFT : this.frame.x1;
    const ends = this.labels.map(({ layer }) => {
      const last = this.py(slice(layer.y, step, 1).findLast(finite));
      return clamp(finite(last) ? last : y1, y0, y1);
    });
    // Beside the axes there is room below them too.
    const floor = clamp(y0 + GAP * (ends.length - 1), y1, height - GAP / 2);
    const heights = this.below
      ? ends.map((_, i) => height - this.below + (i + 0.5) * GAP - 4)
      : spread(ends, floor, GAP);
    this.labels.forEach(({ layer, text, key }, i) => {
      text.textContent = textAt(layer.label, step);
      setVisible(key, text.textContent !== "");
      set(text, { x: x1 + 30, y: heights[i] + 4 });
      set(key, { x1: x1 + 8, x2: x1 + 25, y1: heights[i], y2: heights[i] });
    });
  }

  /** The numbers of the current step. */
  rows() {
    return panelRows(this.panel, this.near);
  }

  /** Shows the derivation of a bar below the picture; once more: hides it.
   * @param {Layer} layer @param {number} i */
  derive(layer, i) {
    const name = layer.names[i];
    const open = this.derived.hidden || this.derived.dataset.name !== name;
    this.derived.hidden = !open;
    this.derived.dataset.name = name;
    if (open) this.derived.replaceChildren(...derivation(name, layer.derivations[i], layer.dials));
  }

  // ---- the pointer

  listen() {
    this.svg.addEventListener("wheel", (event) => {
      if (this.panel.bare) return; // nothing to zoom
      // A scroll that began elsewhere on the page goes on scrolling the page.
      if (!event.ctrlKey && this.live.wheelOwner !== this) return;
      event.preventDefault();
      this.zoom(wheelFactor(event.deltaY), ...this.unit(event));
    }, { passive: false });
    this.svg.addEventListener("dblclick", () => this.reset());
    this.svg.addEventListener("pointerdown", (down) => this.pan(down));
    this.svg.addEventListener("pointermove", (event) => hover(this, event));
    this.svg.addEventListener("pointerleave", () => hover(this, null));
  }

  /** Where in the frame an event is: (0, 0) bottom left, (1, 1) top right.
   * @param {MouseEvent} event @returns {[number, number]} */
  unit(event) {
    const box = this.svg.getBoundingClientRect();
    const { x0, x1, y0, y1 } = this.frame;
    return [
      (event.clientX - box.left - x0) / (x1 - x0),
      (y1 - (event.clientY - box.top)) / (y1 - y0),
    ];
  }

  /** Where an event is in data units. @param {MouseEvent} event @returns {[number, number]} */
  dataAt(event) {
    const view = this.live.view(this.panel);
    const [u, v] = this.unit(event);
    return [valueAt(this.panel.x, view.x, u), valueAt(this.panel.y, view.y, v)];
  }

  /** @param {number} factor */
  zoom(factor, u = 0.5, v = 0.5) {
    const view = zoomed(this.live.view(this.panel), fullRange(this.panel.x), factor, u, v);
    if (view) this.live.setView(this.panel, view);
  }

  reset() {
    this.live.setView(this.panel, null);
  }

  /** @param {PointerEvent} down */
  pan(down) {
    if (down.button !== 0 || this.panel.bare) return;
    const start = this.live.view(this.panel);
    const [u0, v0] = this.unit(down);
    this.root.classList.add("dpl-panning");
    drag(this.svg, down, (event) => {
      const [u, v] = this.unit(event);
      this.live.setView(this.panel, panned(start, u - u0, v - v0));
    }, () => this.root.classList.remove("dpl-panning"));
  }
}
