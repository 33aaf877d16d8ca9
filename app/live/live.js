// Draws a scene and follows a Streamlit slider while it is dragged: no round trip, no library.
//
// The scene (dpcore/figures/scene.py) already holds every step; this file only chooses a step and
// draws it. It never interpolates between steps: what is on screen is a fit that exists.
// All text goes into the page as text nodes, so nothing in a scene can become markup.

const SVG = "http://www.w3.org/2000/svg";
const LIVE = Symbol("live");
const KEYS_SETTLE = 1500; // ms after a key on the slider during which the thumb outranks Python
const GAP = 16; // px between end labels of curves
const MARGIN = { left: 62, right: 18, top: 10, bottom: 44 };

// ---------------------------------------------------------------- small helpers

const clamp = (v, lo, hi) => Math.min(Math.max(v, lo), hi);
const finite = (v) => typeof v === "number" && Number.isFinite(v);
const at = (text, step) => (Array.isArray(text) ? text[step] : text) ?? "";

/** Element with attributes and children; `ns` only for SVG. */
function make(tag, attributes = {}, children = [], ns = null) {
  const node = ns ? document.createElementNS(ns, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
const svg = (tag, attributes, children) => make(tag, attributes, children, SVG);

function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
}

/** A number for people: at most `digits` significant digits, no exponent in the usual range. */
function show(value, digits = 4) {
  if (!finite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(2);
  return Number(value.toPrecision(digits)).toLocaleString("en-US", { maximumFractionDigits: 8 });
}

/** A number beside an axis, with the minus sign of print. */
const tickText = (value) => {
  const power = Math.round(Math.log10(value));
  if (value > 0 && power < -3 && Math.abs(value / 10 ** power - 1) < 1e-9) {
    return `10⁻${[...String(-power)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`;
  }
  return show(value, 6).replace("-", "−");
};

/** `**bold**` is the only markup a text may hold; everything else is plain text. */
function rich(text) {
  return text.split("**").map((part, i) => (i % 2 ? make("strong", {}, [part]) : part));
}

/** One step of an array whose step has `depth` dimensions; what does not move is as it is. */
function slice(array, step, depth) {
  let dimensions = 0;
  for (let inner = array; Array.isArray(inner); inner = inner[0]) dimensions += 1;
  return dimensions > depth ? array[array.length === 1 ? 0 : step] : array;
}

/** CSS variable of a palette index. */
const colour = (index) => `var(--dpl-c${index % 6})`;

/** Mixed colours in the notation that every reader of SVG files knows. */
const plain = (value) => value.replace(/color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)\)/g,
  (_, ...rgb) => `rgb(${rgb.slice(0, 3).map((v) => Math.round(255 * v)).join(", ")})`);

// ---------------------------------------------------------------- axes

const into = (axis, v) => (axis.log ? Math.log10(v) : v);
const outof = (axis, t) => (axis.log ? 10 ** t : t);
const home = (axis) => axis.range.map((v) => into(axis, v));

function linearTicks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((m) => m * power >= rough * 0.999) ?? 10);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks;
}

/** Ticks in data units inside the visible range: nice steps, or 0.1 0.3 1 3 10 on a log axis. */
function ticksOf(axis, [low, high], count) {
  const lo = outof(axis, low);
  const hi = outof(axis, high);
  const inside = (v) => v >= lo * (1 - 1e-9) - 1e-12 && v <= hi * (1 + 1e-9) + 1e-12;
  if (axis.ticks) {
    const given = axis.ticks.filter(inside);
    if (given.length > 1) return given;
  }
  if (!axis.log) return linearTicks(low, high, count);
  const ticks = [];
  for (let p = Math.floor(low) - 1; p <= high + 1; p += 1) ticks.push(10 ** p, 3 * 10 ** p);
  const seen = ticks.map((v) => Number(v.toPrecision(3))).filter(inside);
  return seen.length > 2 ? seen : linearTicks(lo, hi, count).filter((v) => v > 0);
}

// ---------------------------------------------------------------- shapes

/** Path of the ellipse at `level` standard deviations, through the card's scales. */
function ellipsePath(card, [mx, my, xx, xy, yy], level) {
  const half = (xx + yy) / 2;
  const spread = Math.hypot((xx - yy) / 2, xy);
  const long = level * Math.sqrt(Math.max(half + spread, 0));
  const short = level * Math.sqrt(Math.max(half - spread, 0));
  const angle = 0.5 * Math.atan2(2 * xy, xx - yy);
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  let d = "";
  // A polygon through the scales is right on every axis, also on logarithmic ones.
  for (let i = 0; i < 48; i += 1) {
    const u = long * Math.cos((i * Math.PI) / 24);
    const v = short * Math.sin((i * Math.PI) / 24);
    const x = card.px(mx + u * c - v * s);
    const y = card.py(my + u * s + v * c);
    if (finite(x) && finite(y)) d += `${d ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
  }
  return d && `${d}Z`;
}

/** Whether an ellipse reaches past the card's frame to both sides, or above and below it. */
function covers(card, [mx, my, xx, , yy], level) {
  const { x0, x1, y0, y1 } = card.frame;
  const [dx, dy] = [level * Math.sqrt(xx), level * Math.sqrt(yy)];
  const wide = card.px(mx - dx) < x0 && card.px(mx + dx) > x1;
  return wide || (card.py(my + dy) < y0 && card.py(my - dy) > y1);
}

/** Path through points, broken where a number is missing. */
function linePath(card, xs, ys) {
  let d = "";
  let pen = false;
  for (let i = 0; i < xs.length; i += 1) {
    const x = card.px(xs[i]);
    const y = card.py(ys[i]);
    pen = pen && finite(x) && finite(y);
    if (finite(x) && finite(y)) {
      d += `${pen ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
      pen = true;
    }
  }
  return d;
}

// ---------------------------------------------------------------- layers
// Each kind: build(card, layer, group) makes the elements once and returns draw(step).
// rows(layer, step) gives the numbers of a step for the table and the CSV file.

const LAYERS = {
  points: {
    // Points live on a canvas: 2,000 of them cost one repaint and never slow the rest down.
    build: (card, layer) => (step) => card.drawPoints(layer, step),
    moves: (layer) => Array.isArray(layer.x[0]),
    rows(layer, step) {
      const [xs, ys] = [slice(layer.x, step, 1), slice(layer.y, step, 1)];
      return xs.map((x, i) => ({ layer: "points", name: layer.name, item: i + 1, x, y: ys[i] }));
    },
  },

  ellipses: {
    build(card, layer, group) {
      const draws = layer.params[0];
      const parts = [];
      group.setAttribute("class", `dpl-${layer.style}`);
      draws.forEach((groups, draw) =>
        groups.forEach((_, k) => {
          const ink = colour(layer.colours[k]);
          layer.levels.forEach((level) => {
            const outer = level === Math.max(...layer.levels);
            const path = svg("path", { class: "dpl-ellipse", stroke: ink, fill: "none" });
            path.dataset.group = layer.names[k];
            path.dataset.level = level;
            if (layer.fill && outer && layer.style === "bold") path.setAttribute("fill", ink);
            // Second cue: the inner outline carries the dash of its palette index.
            if (!outer && layer.style === "bold") {
              path.setAttribute("stroke-dasharray", card.live.dash(layer.colours[k]));
            }
            parts.push({ draw, k, level, path });
          });
          if (layer.centre && layer.style === "bold") {
            parts.push({ draw, k, path: svg("path", { class: "dpl-centre", stroke: ink }) });
          }
        }),
      );
      group.append(...parts.map((part) => part.path));
      return (step) => {
        const now = slice(layer.params, step, 3);
        for (const { draw, k, level, path } of parts) {
          const numbers = now[draw][k];
          const seen = numbers.every(finite);
          path.style.display = seen ? "" : "none";
          if (!seen) continue;
          const [x, y] = [card.px(numbers[0]), card.py(numbers[1])];
          const plus = `M${x - 5} ${y}h10M${x} ${y - 5}v10`;
          path.setAttribute("d", level ? ellipsePath(card, numbers, level) : plus);
          // A group wider than the card would only dye it: its outline says enough.
          if (level) path.style.fillOpacity = covers(card, numbers, level) ? 0 : "";
          path.dataset.cx = numbers[0];
          path.dataset.cy = numbers[1];
        }
      };
    },
    moves: (layer) => layer.params.length > 1,
    rows(layer, step) {
      const now = slice(layer.params, step, 3);
      return now.flatMap((groups, draw) =>
        groups.map(([x, y, cov_xx, cov_xy, cov_yy, weight], k) => ({
          layer: layer.style === "ghost" ? "other draws" : "groups",
          name: layer.names[k], item: draw + 1, x, y, cov_xx, cov_xy, cov_yy, weight,
        })),
      );
    },
  },

  curve: {
    build(card, layer, group) {
      const ink = colour(layer.colour);
      const band = svg("path", { class: "dpl-band", fill: ink });
      const line = svg("path", {
        class: layer.bold ? "dpl-line dpl-strong" : "dpl-line",
        stroke: ink,
        "stroke-dasharray": card.live.dash(layer.dash),
      });
      group.append(band, line);
      return (step) => {
        const [xs, ys] = [slice(layer.x, step, 1), slice(layer.y, step, 1)];
        line.setAttribute("d", linePath(card, xs, ys));
        if (!layer.lo) return;
        const [lo, hi] = [slice(layer.lo, step, 1), slice(layer.hi, step, 1)];
        const keep = xs.map((_, i) => i).filter((i) => finite(lo[i]) && finite(hi[i]));
        const back = [...keep].reverse();
        const x = [...keep, ...back].map((i) => xs[i]);
        const y = [...keep.map((i) => hi[i]), ...back.map((i) => lo[i])];
        band.setAttribute("d", `${linePath(card, x, y)}Z`.replace(/^Z$/, ""));
      };
    },
    moves: (layer) => Array.isArray(layer.x[0]) || Array.isArray(layer.y[0]),
    rows(layer, step) {
      const [xs, ys] = [slice(layer.x, step, 1), slice(layer.y, step, 1)];
      const lo = layer.lo && slice(layer.lo, step, 1);
      const hi = layer.hi && slice(layer.hi, step, 1);
      const name = layer.name || at(layer.label, step);
      return xs.map((x, i) => ({
        layer: "curve", name, item: i + 1, x, y: ys[i], low: lo?.[i] ?? null, high: hi?.[i] ?? null,
      }));
    },
  },

  rule: {
    build(card, layer, group) {
      const line = svg("line", { class: "dpl-rule", "stroke-dasharray": card.live.dash(layer.dash) });
      const right = layer.side === "right";
      const label = svg("text", { class: "dpl-note", "text-anchor": right ? "end" : "start" });
      label.textContent = layer.label;
      group.append(line, label);
      return () => {
        const y = card.py(layer.y);
        const { x0, x1, y0 } = card.frame;
        set(line, { x1: x0, x2: x1, y1: y, y2: y });
        // Above the line, unless that would leave the plot.
        set(label, { x: right ? x1 - 6 : x0 + 6, y: y < y0 ? y + 14 : y - 6 });
      };
    },
    moves: () => false,
    rows: (layer) => [{ layer: "reference", name: layer.label, item: 1, y: layer.y }],
  },

  cursor: {
    build(card, layer, group) {
      const line = svg("line", { class: "dpl-cursor" });
      const dot = svg("circle", { class: "dpl-dot", r: 5.5, fill: colour(layer.colour) });
      group.append(line, dot);
      return (step) => {
        const [x, y] = [card.px(layer.x[step]), card.py(layer.y[step])];
        const { x0, x1, y0, y1 } = card.frame;
        const across = x >= x0 - 1 && x <= x1 + 1; // never for NaN
        const seen = across && finite(y);
        line.style.display = across && layer.line ? "" : "none";
        dot.style.display = seen ? "" : "none";
        if (across) set(line, { x1: x, x2: x, y1: y0, y2: y1 });
        // Beyond the frame it waits at the edge, hollow: further out it would lie on the numbers.
        if (seen) set(dot, { cx: x, cy: clamp(y, y0, y1) });
        dot.classList.toggle("dpl-beyond", seen && (y < y0 - 1 || y > y1 + 1));
      };
    },
    moves: () => true,
    rows: (layer, step) => [
      { layer: "current point", name: "", item: 1, x: layer.x[step], y: layer.y[step] },
    ],
  },

  bars: {
    // The longest bar of a step fills the card: what is compared is one bar with another.
    build(card, layer, group) {
      const bars = layer.names.map((name, i) => {
        const title = svg("text", { class: "dpl-barname" });
        title.textContent = name;
        const note = svg("text", { class: "dpl-note" });
        const label = svg("text", { class: "dpl-barlabel" });
        const bar = svg("rect", { class: "dpl-bar", rx: 4, fill: colour(layer.colours[i]) });
        const tip = svg("title");
        tip.textContent = layer.tips[i] ?? "";
        const row = svg("g", { "data-bar": name }, [tip, bar, title, note, label]);
        group.append(row);
        return { row, title, note, label, bar };
      });
      const moving = (texts) => Array.isArray(texts[0]);
      const texts = (all, step) => (moving(all) ? all[step] : all);
      const bold = 1.2; // the names' 14 px, bold, against the 13 px of the measure
      const notes = [...new Set(layer.notes.flat())];
      const names = Math.max(bold * card.widest(layer.names), card.widest(notes)) + 16;
      // Room for the labels of bars; a reason has no bar and may use all of the card.
      const numbers = layer.labels.flat().filter((text) => /^[^a-z]*\d/i.test(text));
      const room = bold * card.widest([...new Set(numbers)]) + 24;
      return (step) => {
        const { x0, x1, y0, y1 } = card.frame;
        const values = slice(layer.values, step, 1);
        const most = Math.max(0, ...values.filter(finite)) || 1;
        const pitch = (y1 - y0) / bars.length;
        const tall = Math.min(34, pitch * 0.56);
        const left = x0 + names;
        bars.forEach(({ row, title, note, label, bar }, i) => {
          const middle = y0 + pitch * (i + 0.5);
          const seen = finite(values[i]);
          const wide = seen ? Math.max((values[i] / most) * (x1 - left - room), 2) : 0;
          const under = texts(layer.notes, step)[i];
          set(bar, { x: left, y: middle - tall / 2, width: wide, height: tall });
          bar.style.display = seen ? "" : "none";
          set(title, { x: x0, y: middle + (under ? -2 : 5) });
          set(note, { x: x0, y: middle + 14 });
          note.textContent = under;
          set(label, { x: left + wide + (seen ? 8 : 0), y: middle + 5 });
          label.textContent = texts(layer.labels, step)[i];
          row.classList.toggle("dpl-none", !seen);
          row.dataset.value = values[i] ?? "";
        });
      };
    },
    moves: (layer) => Array.isArray(layer.values[0]),
    rows(layer, step) {
      const values = slice(layer.values, step, 1);
      return layer.names.map((name, i) => ({ layer: "bar", name, item: i + 1, x: values[i] }));
    },
  },

  ring: {
    build(card, layer, group) {
      const ring = svg("path", { class: "dpl-ring" });
      const grip = svg("path", {
        class: "dpl-grip", role: "slider", tabindex: 0, "aria-label": layer.label,
        "aria-valuemin": layer.limits[0], "aria-valuemax": layer.limits[1], "data-ring": layer.name,
      });
      const label = svg("text", { class: "dpl-note", "text-anchor": "middle" });
      label.textContent = layer.label;
      for (const shape of [ring, grip]) set(shape, { "clip-path": `url(#${card.clip})` });
      group.append(ring, label, grip);
      let factor = 1;
      const draw = () => {
        const numbers = [layer.cx, layer.cy, layer.rx ** 2, 0, layer.ry ** 2];
        const d = ellipsePath(card, numbers, factor);
        set(ring, { d });
        set(grip, { d, "aria-valuenow": show(factor, 3), "data-factor": factor });
        set(label, { x: card.px(layer.cx), y: card.py(layer.cy + factor * layer.ry) - 6 });
      };
      // The same ring on another card (same name) moves along.
      card.rings.push({ name: layer.name, follow: (value) => { factor = value; draw(); } });
      const move = (value) => {
        const wanted = clamp(value, ...layer.limits);
        for (const other of card.live.cards.values()) {
          other.rings.filter((r) => r.name === layer.name).forEach((r) => r.follow(wanted));
        }
      };
      const send = () => card.live.send("ring", { name: layer.name, factor });
      grip.addEventListener("pointerdown", (down) => {
        down.stopPropagation(); // the card would pan
        down.preventDefault();
        grip.focus({ preventScroll: true });
        grip.setPointerCapture(down.pointerId);
        const before = factor;
        const drag = (event) => {
          const [x, y] = card.dataAt(event);
          move(Math.hypot((x - layer.cx) / layer.rx, (y - layer.cy) / layer.ry));
        };
        const drop = () => {
          grip.removeEventListener("pointermove", drag);
          if (factor !== before) send();
        };
        grip.addEventListener("pointermove", drag);
        grip.addEventListener("lostpointercapture", drop, { once: true });
      });
      grip.addEventListener("keydown", (event) => {
        const way = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 }[event.key];
        if (!way) return;
        event.preventDefault();
        move(factor + 0.05 * way);
      });
      grip.addEventListener("keyup", (event) => event.key.startsWith("Arrow") && send());
      return draw;
    },
    moves: () => false,
    rows: (layer) => [
      { layer: "ring", name: layer.label, item: 1, x: layer.cx, y: layer.cy,
        cov_xx: layer.rx ** 2, cov_xy: 0, cov_yy: layer.ry ** 2 },
    ],
  },
};

const COLUMNS = ["layer", "name", "item", "x", "y", "low", "high",
  "cov_xx", "cov_xy", "cov_yy", "weight"];

// ---------------------------------------------------------------- one card

let clips = 0;

class Card {
  constructor(live, panel) {
    this.live = live;
    this.clip = `dpl-clip-${(clips += 1)}`;
    this.title = make("strong");
    this.subtitle = make("span");
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.rect = svg("rect");
    this.grid = svg("g", { class: "dpl-grid" });
    this.body = svg("g", { "clip-path": `url(#${this.clip})` });
    this.over = svg("g");
    this.svg = svg("svg", { role: "img" }, [
      svg("defs", {}, [svg("clipPath", { id: this.clip }, [this.rect])]),
      this.grid, this.body, this.over,
    ]);
    this.readout = make("div", { class: "dpl-readout", hidden: "" });
    this.plot = make("div", { class: "dpl-plot" }, [this.canvas, this.svg, this.readout]);
    this.table = make("div", { class: "dpl-table", tabindex: 0, hidden: "" });
    this.root = make("figure", { class: "dpl-card", "data-panel": panel.id }, [
      make("figcaption", {}, [this.title, this.subtitle]),
      this.toolbar(), this.plot, this.table,
    ]);
    this.listen();
  }

  /** New numbers in the same card: elements of the layers are new, card, zoom and focus stay. */
  update(panel) {
    this.panel = panel;
    this.root.classList.toggle("dpl-full", panel.width === "full");
    this.root.classList.toggle("dpl-bare", panel.bare);
    this.plot.style.height = `${panel.height - 52}px`;
    this.title.textContent = panel.title;
    this.canvas.style.display = panel.layers.some((l) => l.kind === "points") ? "" : "none";
    this.body.replaceChildren();
    this.over.replaceChildren();
    this.rings = [];
    this.layers = panel.layers.map((layer) => {
      const group = svg("g");
      // Rules' labels and the ring's grip may reach past the frame; all else is clipped to it.
      (["rule", "ring", "cursor", "bars"].includes(layer.kind) ? this.over : this.body).append(group);
      const kind = LAYERS[layer.kind];
      return { layer, draw: kind.build(this, layer, group), moves: kind.moves(layer) };
    });
    this.hair = svg("line", { class: "dpl-hair", visibility: "hidden" });
    this.labels = panel.layers
      .filter((l) => l.kind === "curve" && l.label_at === "end" && l.label.length)
      .map((layer) => {
        const text = svg("text", { class: "dpl-label" });
        const key = svg("line", { class: "dpl-line", "stroke-dasharray": this.live.dash(layer.dash) });
        key.style.stroke = colour(layer.colour);
        // Lines need 3:1 against the card, text 4.5:1: mix the colour with the ink.
        text.style.fill = `color-mix(in srgb, ${colour(layer.colour)} 70%, var(--dpl-ink))`;
        this.over.append(key, text);
        return { layer, text, key };
      });
    this.over.append(this.hair);
    this.labelRoom = this.measureLabels();
  }

  /** Width of the longest of some texts at 13 px. */
  widest(texts) {
    const pen = this.canvas.getContext("2d");
    pen.font = `13px ${getComputedStyle(this.live.root).fontFamily}`;
    return Math.max(0, ...texts.map((text) => pen.measureText(text).width));
  }

  /** Room for the longest label of any step, so that nothing shifts while the slider moves. */
  measureLabels() {
    const texts = this.labels.flatMap(({ layer }) => layer.label);
    return texts.length ? this.widest(texts) + 44 : 0;
  }

  /** Room for the axis title and the numbers beside it, in steps: zooming must not make it jitter. */
  leftRoom(view, height) {
    const { y } = this.panel;
    const ticks = [home(y), view.y].flatMap((range) => ticksOf(y, range, height / 50));
    const numbers = this.widest(ticks.map(tickText));
    return Math.max(MARGIN.left, 16 * Math.ceil((numbers + 38) / 16));
  }

  /** Everything: called when the size, the zoom, the theme or the scene has changed. */
  layout(step) {
    const [width, height] = [this.plot.clientWidth, this.plot.clientHeight];
    if (!width || !height) return;
    if (this.panel.bare) {
      this.frame = { x0: 16, x1: width - 12, y0: 2, y1: height - 8, width, height };
      set(this.svg, { viewBox: `0 0 ${width} ${height}`, width, height });
      this.grid.replaceChildren();
      for (const { draw } of this.layers) draw(step);
      this.texts(step);
      return;
    }
    const right = Math.max(MARGIN.right, Math.min(this.labelRoom, width * 0.4));
    // A reference near the top has its label above it.
    const top = MARGIN.top + (this.panel.layers.some((l) => l.kind === "rule") ? 8 : 0);
    const view = this.live.view(this.panel);
    const left = this.leftRoom(view, height - MARGIN.bottom - top);
    this.frame = {
      x0: left, x1: width - right, y0: top, y1: height - MARGIN.bottom, width, height,
    };
    const { x0, x1, y0, y1 } = this.frame;
    const scale = (axis, [a, b], from, to) => (v) =>
      finite(v) ? from + ((into(axis, v) - a) / (b - a)) * (to - from) : NaN;
    this.px = scale(this.panel.x, view.x, x0, x1);
    this.py = scale(this.panel.y, view.y, y1, y0);
    set(this.svg, { viewBox: `0 0 ${width} ${height}`, width, height });
    set(this.rect, { x: x0, y: y0, width: x1 - x0, height: y1 - y0 });
    this.drawAxes(view);
    for (const { draw } of this.layers) draw(step);
    this.texts(step);
  }

  /** Only what depends on the step. */
  step(step) {
    if (!this.frame) return;
    for (const { draw, moves } of this.layers) if (moves) draw(step);
    this.texts(step);
  }

  texts(step) {
    const subtitle = at(this.panel.subtitle, step);
    this.subtitle.textContent = subtitle && ` · ${subtitle}`;
    this.svg.setAttribute("aria-label", `${this.panel.title}. ${at(this.panel.alt, step)}`);
    this.drawLabels(step);
    if (!this.table.hidden) this.live.later(() => this.fillTable());
  }

  drawAxes(view) {
    const { x0, x1, y0, y1 } = this.frame;
    const { x, y } = this.panel;
    const nodes = [];
    const text = (content, attributes) => {
      const node = svg("text", attributes);
      node.textContent = content;
      nodes.push(node);
    };
    for (const v of ticksOf(y, view.y, (y1 - y0) / 50)) {
      const p = this.py(v);
      nodes.push(svg("line", { x1: x0, x2: x1, y1: p, y2: p }));
      text(tickText(v), { x: x0 - 8, y: p + 4, "text-anchor": "end" });
    }
    for (const v of ticksOf(x, view.x, (x1 - x0) / 90)) {
      const p = this.px(v);
      nodes.push(svg("line", { x1: p, x2: p, y1: y0, y2: y1 }));
      text(tickText(v), { x: p, y: y1 + 17, "text-anchor": "middle" });
    }
    const title = { class: "dpl-axis", "text-anchor": "middle" };
    text(x.label, { ...title, x: (x0 + x1) / 2, y: y1 + 36 });
    // A title longer than its axis is kept on the card.
    const half = Math.min(this.widest([y.label]) / 2 + 2, this.frame.height / 2);
    const middle = clamp((y0 + y1) / 2, half, this.frame.height - half);
    text(y.label, { ...title, x: 20, y: middle, transform: `rotate(-90 20 ${middle})` });
    this.grid.replaceChildren(...nodes);
  }

  /** Labels at the right end of their curves, pushed apart so that none covers another. */
  drawLabels(step) {
    const { x1, y0, y1 } = this.frame;
    const placed = this.labels.map((label) => {
      const ys = slice(label.layer.y, step, 1);
      const last = this.py(ys.findLast(finite));
      return { ...label, y: clamp(finite(last) ? last : y1, y0, y1) };
    });
    placed.sort((a, b) => a.y - b.y);
    placed.forEach((p, i) => (p.y = i ? Math.max(p.y, placed[i - 1].y + GAP) : p.y));
    let floor = y1;
    for (const p of [...placed].reverse()) {
      p.y = Math.min(p.y, floor);
      floor = p.y - GAP;
    }
    for (const { layer, text, key, y } of placed) {
      text.textContent = at(layer.label, step);
      set(text, { x: x1 + 30, y: y + 4 });
      set(key, { x1: x1 + 8, x2: x1 + 25, y1: y, y2: y });
    }
  }

  drawPoints(layer, step) {
    const { x0, x1, y0, y1, width, height } = this.frame;
    const ratio = window.devicePixelRatio || 1;
    Object.assign(this.canvas, { width: width * ratio, height: height * ratio });
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.beginPath();
    pen.rect(x0, y0, x1 - x0, y1 - y0);
    pen.clip();
    pen.globalAlpha = layer.opacity;
    pen.fillStyle = this.live.ink(layer.colour);
    const [xs, ys] = [slice(layer.x, step, 1), slice(layer.y, step, 1)];
    xs.forEach((x, i) => {
      const [px, py] = [this.px(x), this.py(ys[i])];
      if (!finite(px) || !finite(py)) return;
      pen.beginPath();
      pen.arc(px, py, 1.9, 0, 2 * Math.PI);
      pen.fill();
    });
  }

  // -------------------------------------------------------------- zoom, pan, readout

  listen() {
    this.svg.addEventListener("wheel", (event) => {
      if (this.panel.bare) return; // nothing to zoom
      // A scroll that began elsewhere on the page goes on scrolling the page.
      if (!event.ctrlKey && this.live.wheelOwner !== this) return;
      event.preventDefault();
      const [x, y] = this.unit(event);
      this.zoom(Math.exp(clamp(event.deltaY, -240, 240) * 0.002), x, y);
    }, { passive: false });
    this.svg.addEventListener("dblclick", () => this.reset());
    this.svg.addEventListener("pointerdown", (down) => this.pan(down));
    this.svg.addEventListener("pointermove", (event) => this.hover(event));
    this.svg.addEventListener("pointerleave", () => this.hover(null));
  }

  /** Where in the frame an event is: (0, 0) bottom left, (1, 1) top right. */
  unit(event) {
    const box = this.svg.getBoundingClientRect();
    const { x0, x1, y0, y1 } = this.frame;
    return [
      (event.clientX - box.left - x0) / (x1 - x0),
      (y1 - (event.clientY - box.top)) / (y1 - y0),
    ];
  }

  /** Where an event is in data units. */
  dataAt(event) {
    const view = this.live.view(this.panel);
    const [u, v] = this.unit(event);
    return [
      outof(this.panel.x, view.x[0] + u * (view.x[1] - view.x[0])),
      outof(this.panel.y, view.y[0] + v * (view.y[1] - view.y[0])),
    ];
  }

  zoom(factor, u = 0.5, v = 0.5) {
    const view = this.live.view(this.panel);
    const around = ([a, b], t) => {
      const centre = a + t * (b - a);
      return [centre + (a - centre) * factor, centre + (b - centre) * factor];
    };
    const [x, y] = [around(view.x, u), around(view.y, v)];
    const full = home(this.panel.x);
    const share = (x[1] - x[0]) / (full[1] - full[0]);
    if (share > 1e-4 && share < 20) this.live.setView(this.panel, { x, y });
  }

  reset() {
    this.live.setView(this.panel, null);
  }

  pan(down) {
    if (down.button !== 0 || this.panel.bare) return;
    const start = this.live.view(this.panel);
    const [u0, v0] = this.unit(down);
    this.svg.setPointerCapture(down.pointerId);
    this.root.classList.add("dpl-panning");
    const move = (event) => {
      const [u, v] = this.unit(event);
      const shift = ([a, b], t) => [a - t * (b - a), b - t * (b - a)];
      this.live.setView(this.panel, { x: shift(start.x, u - u0), y: shift(start.y, v - v0) });
    };
    this.svg.addEventListener("pointermove", move);
    this.svg.addEventListener("lostpointercapture", () => {
      this.svg.removeEventListener("pointermove", move);
      this.root.classList.remove("dpl-panning");
    }, { once: true });
  }

  /** Numbers of every curve at the nearest computed x (never between two computed points). */
  hover(event) {
    const curves = this.panel.layers.filter((layer) => layer.kind === "curve");
    const [u, v] = event && this.frame ? this.unit(event) : [-1, -1];
    const seen = curves.length > 0 && u >= 0 && u <= 1 && v >= 0 && v <= 1;
    this.readout.hidden = !seen;
    this.hair.setAttribute("visibility", seen ? "visible" : "hidden");
    if (!seen) return;
    const step = this.live.step;
    const pointer = this.frame.x0 + u * (this.frame.x1 - this.frame.x0);
    const nearest = (xs) => xs.reduce(
      (best, x, i) => (Math.abs(this.px(x) - pointer) < Math.abs(this.px(xs[best]) - pointer) ? i : best), 0);
    const xs = slice(curves[0].x, step, 1);
    const x = xs[nearest(xs)];
    const lines = curves.map((layer) => {
      const i = nearest(slice(layer.x, step, 1));
      const band = layer.lo
        ? ` (${show(slice(layer.lo, step, 1)[i], 3)} to ${show(slice(layer.hi, step, 1)[i], 3)})` : "";
      const key = make("i");
      key.style.background = colour(layer.colour);
      const name = layer.name || at(layer.label, step) || this.panel.y.label;
      return make("div", {}, [key, `${name}: `, make("b", {}, [show(slice(layer.y, step, 1)[i], 3)]), band]);
    });
    const head = make("div", {}, [`${this.panel.x.label}: `, make("b", {}, [show(x, 3)])]);
    this.readout.replaceChildren(head, ...lines);
    const at_x = this.px(x);
    set(this.hair, { x1: at_x, x2: at_x, y1: this.frame.y0, y2: this.frame.y1 });
    const flip = at_x > this.frame.width / 2;
    this.readout.style.left = flip ? "" : `${at_x + 12}px`;
    this.readout.style.right = flip ? `${this.frame.width - at_x + 12}px` : "";
  }

  // -------------------------------------------------------------- toolbar, table, files

  toolbar() {
    const actions = [
      ["+", "Zoom in", () => this.zoom(0.7)],
      ["−", "Zoom out", () => this.zoom(1 / 0.7)],
      ["↺", "Reset zoom", () => this.reset()],
      ["Table", "Show the numbers as a table", () => this.toggleTable()],
      ["CSV", "Download the numbers of this step (CSV)", () => this.saveCSV()],
      ["SVG", "Download the picture (SVG)", () => this.saveSVG()],
      ["PNG", "Download the picture (PNG)", () => this.savePNG()],
    ];
    const bar = make("div", { class: "dpl-tools", role: "toolbar", "aria-label": "Figure tools" });
    for (const [face, label, act] of actions) {
      const button = make("button", { type: "button", title: label, "aria-label": label }, [face]);
      button.addEventListener("click", act);
      if (face === "Table") this.tableButton = button;
      if (/zoom/i.test(label)) button.dataset.zoom = "";
      bar.append(button);
    }
    return bar;
  }

  rows() {
    const step = this.live.step;
    return this.panel.layers.flatMap((layer) => LAYERS[layer.kind].rows(layer, step));
  }

  toggleTable() {
    this.table.hidden = !this.table.hidden;
    this.plot.hidden = !this.table.hidden;
    this.table.style.height = this.plot.style.height;
    this.tableButton.setAttribute("aria-pressed", String(!this.table.hidden));
    if (this.table.hidden) this.layout(this.live.step);
    else this.fillTable();
  }

  fillTable() {
    const rows = this.rows();
    const columns = COLUMNS.filter((name) => rows.some((row) => row[name] != null && row[name] !== ""));
    const heads = { x: this.panel.x.label, y: this.panel.y.label };
    const head = columns.map((name) => make("th", { scope: "col" }, [heads[name] ?? name.replace("_", " ")]));
    const cell = (value) =>
      make("td", typeof value === "number" ? { class: "dpl-number" } : {}, [
        typeof value === "number" ? show(value) : value ?? ""]);
    const caption = `${this.panel.title}, ${this.live.scene.symbol} = ${this.live.label()}`;
    this.table.replaceChildren(make("table", {}, [
      make("caption", {}, [caption]),
      make("thead", {}, [make("tr", {}, head)]),
      make("tbody", {}, rows.map((row) => make("tr", {}, columns.map((name) => cell(row[name]))))),
    ]));
  }

  saveCSV() {
    // Text that a spreadsheet would run as a formula is led by an apostrophe.
    const quote = (value) => {
      if (value == null) return "";
      if (typeof value === "number") return String(value);
      return `"${value.replace(/^([=+\-@\t])/, "'$1").replaceAll('"', '""')}"`;
    };
    const value = this.live.scene.steps[this.live.step];
    const lines = this.rows().map((row) => [value, ...COLUMNS.map((name) => quote(row[name]))].join(","));
    const text = [[quote(this.live.scene.symbol), ...COLUMNS].join(","), ...lines, ""].join("\n");
    this.save(new Blob([text], { type: "text/csv" }), "csv");
  }

  /** The picture as a file of its own: styles written into the elements, points as shapes. */
  standalone() {
    const { width, height } = this.frame;
    const copy = this.svg.cloneNode(true);
    const style = getComputedStyle(this.root);
    const names = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity",
      "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight", "text-anchor",
      "display", "visibility", "paint-order"];
    const [live, dead] = [this.svg.querySelectorAll("*"), copy.querySelectorAll("*")];
    live.forEach((node, i) => {
      const computed = getComputedStyle(node);
      for (const name of names) dead[i].style.setProperty(name, plain(computed.getPropertyValue(name)));
    });
    const title = svg("text", { x: 16, y: -16, fill: style.color, "font-size": 15,
      "font-family": style.fontFamily });
    title.textContent = `${this.title.textContent}${this.subtitle.textContent}`;
    const ground = svg("rect", { y: -40, width, height: height + 40, fill: style.backgroundColor });
    const clouds = this.panel.layers.filter((l) => l.kind === "points").map((l) => this.cloud(l));
    copy.prepend(ground, title, ...clouds);
    set(copy, { xmlns: SVG, viewBox: `0 -40 ${width} ${height + 40}`, width, height: height + 40 });
    return new XMLSerializer().serializeToString(copy);
  }

  cloud(layer) {
    const step = this.live.step;
    const [xs, ys] = [slice(layer.x, step, 1), slice(layer.y, step, 1)];
    const { x0, x1, y0, y1 } = this.frame;
    const dots = xs
      .map((x, i) => [this.px(x), this.py(ys[i])])
      .filter(([x, y]) => x >= x0 && x <= x1 && y >= y0 && y <= y1)
      .map(([x, y]) => svg("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: 1.9 }));
    return svg("g", { fill: this.live.ink(layer.colour), "fill-opacity": layer.opacity }, dots);
  }

  saveSVG() {
    this.withPlot(() => this.save(new Blob([this.standalone()], { type: "image/svg+xml" }), "svg"));
  }

  savePNG() {
    this.withPlot(() => {
      const { width, height } = this.frame;
      const picture = new Image();
      picture.onload = () => {
        const sheet = make("canvas", { width: width * 2, height: (height + 40) * 2 });
        sheet.getContext("2d").drawImage(picture, 0, 0, sheet.width, sheet.height);
        sheet.toBlob((blob) => this.save(blob, "png"));
      };
      picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(this.standalone())}`;
    });
  }

  /** Computed styles need the picture on the page: leave the table for a moment. */
  withPlot(act) {
    const open = !this.table.hidden;
    if (open) this.toggleTable();
    act();
    if (open) this.toggleTable();
  }

  save(blob, ending) {
    const url = URL.createObjectURL(blob);
    make("a", { href: url, download: `${this.panel.id}.${ending}` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }
}

// ---------------------------------------------------------------- the slider

/** Follows a Streamlit slider by its accessible value; tells whether a hand is on it. */
class Thumb {
  constructor(moved) {
    this.moved = moved;
    this.watch = new MutationObserver(() => this.read());
    this.keyed = -Infinity;
    this.position = null;
    this.press = () => {
      this.held = true;
      const up = () => (this.held = false);
      window.addEventListener("pointerup", up, { once: true, capture: true });
      window.addEventListener("pointercancel", up, { once: true, capture: true });
    };
    this.key = () => (this.keyed = performance.now());
  }

  /** Finds the slider (Streamlit may have replaced it) and starts to observe it. */
  bind(name, scene) {
    this.scene = scene;
    const box = document.querySelector(`.${CSS.escape(name)}`);
    const node = box?.querySelector('input[type="range"], [role="slider"]') ?? null;
    if (node !== this.node) {
      this.release();
      this.node = node;
      this.box = box;
      if (node) {
        const attributeFilter = ["aria-valuetext", "aria-valuenow", "value"];
        this.watch.observe(node, { attributes: true, attributeFilter });
        box.addEventListener("pointerdown", this.press, true);
        box.addEventListener("keydown", this.key, true);
      }
    }
    this.read();
  }

  release() {
    this.watch.disconnect();
    this.box?.removeEventListener("pointerdown", this.press, true);
    this.box?.removeEventListener("keydown", this.key, true);
    this.node = this.box = null;
  }

  get busy() {
    return this.held || performance.now() - this.keyed < KEYS_SETTLE;
  }

  read() {
    const position = this.node ? this.locate() : null;
    if (position === this.position) return;
    this.position = position;
    this.moved(position);
  }

  /** Position on the scale: by index where the slider counts positions, else by its label. */
  locate() {
    const number = (name) => Number(this.node.getAttribute(`aria-value${name}`) ?? this.node[
      { now: "value", min: "min", max: "max" }[name]]);
    const { positions, labels } = this.scene;
    const [now, low, high] = ["now", "min", "max"].map(number);
    if (high - low === positions.length - 1) return clamp(Math.round(now - low), 0, high - low);
    const text = this.node.getAttribute("aria-valuetext");
    const found = positions.findIndex((step) => labels[step] === text);
    return found < 0 ? null : found;
  }
}

// ---------------------------------------------------------------- the component

class Live {
  constructor(parent) {
    this.root = make("div", { class: "dpl" });
    parent.append(this.root);
    this.cards = new Map();
    this.views = new Map();
    this.updates = 0;
    this.frameAsked = 0;
    this.thumb = new Thumb((position) => {
      if (position !== this.pinned) this.pinned = null;
      this.ask();
    });
    // The width only: a table view changes the height, and must not start a layout loop.
    this.size = new ResizeObserver(() => {
      if (this.root.clientWidth !== this.width) this.layout();
    });
    this.size.observe(this.root);
    // Streamlit may add the slider or a text slot after us, or replace them: look again then.
    this.page = new MutationObserver((records) => {
      if (records.every((r) => this.root.contains(r.target))) return;
      if (!this.thumb.node?.isConnected) this.thumb.bind(this.slider, this.scene);
      this.fillSlots();
    });
    this.page.observe(document.body, { childList: true, subtree: true });
    // One wheel gesture belongs to the place where it began.
    this.wheel = (event) => {
      const now = performance.now();
      if (now - (this.wheeled ?? -Infinity) > 250) {
        this.wheelOwner = [...this.cards.values()].find((c) => c.svg.contains(event.target)) ?? null;
      }
      this.wheeled = now;
    };
    window.addEventListener("wheel", this.wheel, { capture: true, passive: true });
  }

  /** Called by Streamlit with every new scene, and with the same one when the theme changes. */
  receive({ data, setTriggerValue }) {
    const { scene, slider } = data;
    this.send = setTriggerValue;
    this.slider = slider;
    const changed = scene.id !== this.scene?.id;
    this.scene = scene;
    this.thumb.bind(slider, scene);
    // Python's step holds until the thumb moves, unless a hand is on it at this moment.
    this.pinned = this.thumb.busy ? null : this.thumb.position;
    this.step = this.choose();
    const themed = this.paint();
    if (changed) this.rebuild();
    if (changed || themed) this.layout();
    this.draw();
  }

  /** The rule of the slider: at its own position (or untouched) Python's step, else the thumb's. */
  choose() {
    const { position } = this.thumb;
    const { positions, thumb, step } = this.scene;
    const own = position === null || position === thumb || position === this.pinned;
    return own ? step : positions[position];
  }

  /** Palette of the theme: Streamlit's own ground tells light from dark. True if it changed. */
  paint() {
    const style = getComputedStyle(this.root);
    const pen = make("canvas").getContext("2d");
    pen.fillStyle = style.getPropertyValue("--st-background-color").trim() || "#ffffff";
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(pen.fillStyle.slice(i, i + 2), 16));
    const theme = 0.2126 * r + 0.7152 * g + 0.0722 * b < 128 ? "dark" : "light";
    const mark = `${theme} ${style.color} ${pen.fillStyle}`;
    const palette = this.scene.palette[theme];
    palette.forEach((hex, i) => this.root.style.setProperty(`--dpl-c${i}`, hex));
    this.palette = palette;
    this.root.dataset.theme = theme;
    const changed = mark !== this.mark;
    this.mark = mark;
    return changed;
  }

  dash(index) {
    return this.scene.palette.dashes[index % 6] || "none";
  }

  ink(index) {
    return index == null ? getComputedStyle(this.root).color : this.palette[index % 6];
  }

  /** Cards are kept by their id; zoom is kept while the axes are the same. */
  rebuild() {
    const wanted = this.scene.panels.map((panel) => {
      const card = this.cards.get(panel.id) ?? new Card(this, panel);
      this.cards.set(panel.id, card);
      card.update(panel);
      return card;
    });
    for (const [id, card] of this.cards) {
      if (!wanted.includes(card)) {
        card.root.remove();
        this.cards.delete(id);
      }
    }
    wanted.forEach((card, i) => {
      if (this.root.children[i] !== card.root) this.root.insertBefore(card.root, this.root.children[i] ?? null);
    });
  }

  group(panel) {
    return panel.link ? `link ${panel.link}` : `panel ${panel.id}`;
  }

  view(panel) {
    const kept = this.views.get(this.group(panel));
    const axes = JSON.stringify([panel.x, panel.y]);
    if (kept?.axes === axes) return kept;
    return { x: home(panel.x), y: home(panel.y) };
  }

  setView(panel, view) {
    const group = this.group(panel);
    if (view) this.views.set(group, { ...view, axes: JSON.stringify([panel.x, panel.y]) });
    else this.views.delete(group);
    this.zoomed ??= new Set();
    this.zoomed.add(group);
    this.ask();
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
        if (this.zoomed?.has(this.group(card.panel))) card.layout(this.step);
      }
      this.zoomed = null;
      this.draw();
    });
  }

  draw() {
    const began = performance.now();
    this.step = this.choose();
    if (this.drawn !== `${this.scene.id} ${this.step}`) {
      for (const card of this.cards.values()) card.step(this.step);
      this.updates += 1;
      this.drawn = `${this.scene.id} ${this.step}`;
      Object.assign(this.root.dataset, {
        step: this.step,
        epsilon: this.label(),
        scene: this.scene.id,
        updates: this.updates,
        ms: (performance.now() - began).toFixed(2),
      });
    }
    this.fillSlots();
  }

  label() {
    return this.scene.labels[this.step];
  }

  fillSlots() {
    if (!this.scene) return;
    const mark = `${this.scene.id} ${this.step}`;
    for (const node of document.querySelectorAll("[data-live]")) {
      const texts = this.scene.slots[node.dataset.live];
      if (!texts || (node.dataset.liveStep === mark && node.hasChildNodes())) continue;
      node.dataset.liveStep = mark;
      node.replaceChildren(...rich(texts[this.step]));
    }
  }

  /** Work that may wait until the hand rests (rebuilding a table). */
  later(work) {
    clearTimeout(this.timer);
    this.timer = setTimeout(work, 120);
  }

  remove() {
    cancelAnimationFrame(this.frameAsked);
    clearTimeout(this.timer);
    this.thumb.release();
    this.size.disconnect();
    this.page.disconnect();
    window.removeEventListener("wheel", this.wheel, { capture: true });
    this.root.remove();
  }
}

/** Entry point: Streamlit calls it at mount and at every change of data or theme. */
export default function (component) {
  const { parentElement } = component;
  const live = (parentElement[LIVE] ??= new Live(parentElement));
  live.receive(component);
  return () => {
    live.remove();
    delete parentElement[LIVE];
  };
}
