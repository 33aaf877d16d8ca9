// Draws a scene and follows a Streamlit slider while it is dragged: no round trip.
// The scene (dpcore/figures/scene.py) holds every step; this file chooses one and never
// interpolates. Text goes into the page as text nodes: nothing in a scene can become markup.

const SVG = "http://www.w3.org/2000/svg";
const LIVE = Symbol("live");
const KEYS_SETTLE = 1500; // ms after a key on the slider during which the thumb outranks Python
const GAP = 16; // px between end labels of curves
const MARGIN = { left: 62, right: 18, top: 10, bottom: 44 };

// ---- small helpers

const clamp = (v, lo, hi) => Math.min(Math.max(v, lo), hi);
const finite = Number.isFinite; // false for what is no number
const at = (text, step) => (Array.isArray(text) ? text[step] : text) ?? "";

function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** Element with attributes and children; `ns` only for SVG. */
function make(tag, attributes = {}, children = [], ns = null) {
  const node = ns ? document.createElementNS(ns, tag) : document.createElement(tag);
  node.append(...children);
  return set(node, attributes);
}
const svg = (tag, attributes, children) => make(tag, attributes, children, SVG);

/** Puts a text at a place. */
const place = (node, x, y, anchor = "start") => set(node, { x, y, "text-anchor": anchor });

/** Follows a pointer that is down on an element until it lets go. */
function follow(node, { pointerId }, move, drop) {
  node.setPointerCapture(pointerId);
  node.addEventListener("pointermove", move);
  node.addEventListener("lostpointercapture", () => {
    node.removeEventListener("pointermove", move);
    drop();
  }, { once: true });
}

/** A muted text. */
const note = (words = "") => svg("text", { class: "dpl-note" }, [words]);

/** Shows an element or not; tells which. */
function shown(node, seen) {
  node.style.display = seen ? "" : "none";
  return seen;
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

/** Numbers of a layer at a step: `[xs, ys]`. */
const xy = (layer, step) => [slice(layer.x, step, 1), slice(layer.y, step, 1)];

const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

const textsAt = (texts, step) => (Array.isArray(texts[0]) ? texts[step] : texts);

/** CSS variable of a palette index. */
const colour = (index) => (index == null ? "var(--dpl-muted)" : `var(--dpl-c${index % 6})`);

/** Mixed colours in the notation that every reader of SVG files knows. */
const plain = (value) => value.replace(/color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)\)/g,
  (_, ...rgb) => `rgb(${rgb.slice(0, 3).map((v) => Math.round(255 * v)).join(", ")})`);

// ---- axes

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

/** Ticks inside the visible range: nice steps, or 0.1 0.3 1 3 10 on a log axis. */
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

// ---- shapes

/** Path through points, broken where a number is missing. */
function linePath(card, xs, ys) {
  let d = "";
  let pen = "M";
  xs.forEach((v, i) => {
    const [x, y] = [card.px(v), card.py(ys[i])];
    const seen = finite(x) && finite(y);
    if (seen) d += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
    pen = seen ? "L" : "M";
  });
  return d;
}

/** Path of the ellipse at `level` standard deviations: right on every axis, also on log ones. */
function ellipsePath(card, [mx, my, xx, xy, yy], level) {
  const across = level * Math.sqrt(Math.max(xx, 0));
  const lean = across > 0 ? (level * level * xy) / across : 0;
  const up = Math.sqrt(Math.max(level * level * yy - lean * lean, 0));
  const turns = Array.from({ length: 48 }, (_, i) => (i * Math.PI) / 24);
  const d = linePath(card, turns.map((t) => mx + across * Math.cos(t)),
    turns.map((t) => my + lean * Math.cos(t) + up * Math.sin(t)));
  return d && `${d}Z`;
}

/** Whether an ellipse reaches past the card's frame on two opposite sides. */
function covers({ px, py, frame }, [mx, my, xx, , yy], level) {
  const past = (scale, m, s, low, high) => scale(m - s) < low && scale(m + s) > high;
  return past(px, mx, level * Math.sqrt(xx), frame.x0, frame.x1)
    || past(py, my, -level * Math.sqrt(yy), frame.y0, frame.y1);
}

// ---- layers
// Each kind: build(card, layer, group) makes the elements once and returns draw(step);
// paint(card, layer, step, pen) draws on the canvas under them: one repaint, however much there is.
// Tables and files get the columns that a layer names, or rows(layer, step).

const LAYERS = {
  points: {
    paint(card, layer, step, pen) {
      const [xs, ys] = xy(layer, step);
      pen.globalAlpha = layer.opacity;
      pen.fillStyle = card.live.ink(layer.colour);
      xs.forEach((x, i) => {
        const [px, py] = [card.px(x), card.py(ys[i])];
        if (!finite(px) || !finite(py)) return;
        pen.beginPath();
        pen.arc(px, py, 1.9, 0, 2 * Math.PI);
        pen.fill();
      });
    },
  },

  spots: {
    // Muted dots stand still, and their labels make room for one another.
    build(card, layer, group) {
      const quiet = !layer.colours.length;
      const { markers } = card.live.scene.palette;
      const spots = layer.names.map((name, k) => {
        const index = layer.colours[k];
        const d = markers[index ?? 0];
        const kind = quiet ? "dpl-place" : "dpl-spot";
        const mark = svg("path", { class: kind, d, fill: colour(index), "data-spot": name });
        const label = svg("text", { class: quiet ? "dpl-note" : "dpl-label" }, [layer.labels[k]]);
        group.append(mark, label);
        return { mark, label };
      });
      return (step) => {
        const [xs, ys] = xy(layer, step);
        spots.forEach(({ mark, label }, k) => {
          const [x, y] = [card.px(xs[k]), card.py(ys[k])];
          if (![mark, label].every((node) => shown(node, finite(x) && finite(y)))) return;
          set(mark, { transform: `translate(${x} ${y}) scale(${quiet ? 0.42 : 1})` });
          if (quiet) card.settle(label, [[x + 6, y + 4, "start"], [x - 6, y + 4, "end"]]);
          else place(label, x + 8, y - 5);
        });
      };
    },
  },

  heat: {
    build(card, layer, group) {
      // One byte a cell: 1 to 255 for -limit to limit, 0 for no number.
      layer.bytes ??= Uint8Array.from(atob(layer.cells), (c) => c.charCodeAt(0));
      const write = (words) => group.appendChild(note(words));
      const [names, notes, ends] = [layer.rows, layer.names, layer.ends].map((all) => all.map(write));
      const boxes = layer.names.map((_, i) => svg("rect", { class: "dpl-tile", "data-tile": i }));
      group.append(...boxes);
      return (step) => {
        const { tiles, key } = card.tiles(layer);
        const words = textsAt(layer.notes, step);
        tiles.forEach(({ x, y, width, height }, i) => {
          set(boxes[i], tiles[i]);
          place(notes[i], x + width / 2, y + height + 14, "middle").textContent = words[i];
        });
        const [{ x, y, height }] = tiles;
        names.forEach((node, i) =>
          place(node, x - 8, y + (height * (i + 0.5)) / names.length + 4, "end"));
        place(ends[0], key.x - 6, key.y + 9, "end");
        place(ends[1], key.x + key.width + 6, key.y + 9);
      };
    },
    paint(card, layer, step, pen) {
      const [, count, high, wide] = layer.shape;
      const { zero, palette } = card.live;
      const [none, blue, orange] = [zero, ...palette].map(rgb);
      const image = new ImageData(wide, count * high);
      cellsOf(layer, step).forEach((tone, i) => {
        const share = Math.abs(tone - 128) / 127;
        const ink = tone < 128 ? blue : orange;
        for (let k = 0; k < 3; k += 1) image.data[4 * i + k] = none[k] + share * (ink[k] - none[k]);
        image.data[4 * i + 3] = tone && 255;
      });
      const board = make("canvas", { width: wide, height: count * high });
      board.getContext("2d").putImageData(image, 0, 0);
      const { tiles, key } = card.tiles(layer);
      pen.imageSmoothingEnabled = false;
      tiles.forEach(({ x, y, width, height }, i) =>
        pen.drawImage(board, 0, i * high, wide, high, x, y, width, height));
      pen.fillStyle = pen.createLinearGradient(key.x, 0, key.x + key.width, 0);
      const inks = [palette[0], zero, palette[1]].slice(+layer.above);
      inks.forEach((ink, i) => pen.fillStyle.addColorStop(i / (inks.length - 1), ink));
      pen.fillRect(key.x, key.y, key.width, key.height);
    },
    rows: (layer, step) => [...cellsOf(layer, step)].map((tone, i) => {
      const [, , high, wide] = layer.shape;
      const [row, column] = [Math.floor(i / wide) % high, i % wide];
      const where = layer.rows[row] ?? `row ${row + 1}, column ${column + 1}`;
      const name = `${layer.names[Math.floor(i / wide / high)]}: ${where}`;
      const value = tone ? Number((((tone - 128) / 127) * layer.limit).toPrecision(3)) : null;
      return { layer: "cell", name, item: i + 1, value };
    }),
  },

  ellipses: {
    build(card, layer, group) {
      const parts = [];
      const bold = layer.style === "bold";
      group.setAttribute("class", `dpl-${layer.style}`);
      layer.params[0].forEach((groups, draw) =>
        groups.forEach((_, k) => {
          const ink = colour(layer.colours[k]);
          layer.levels.forEach((level) => {
            const outer = level === Math.max(...layer.levels);
            const fill = layer.fill && outer && bold ? ink : "none";
            // Second cue: the inner outline carries the dash of its palette index.
            const dash = !outer && bold ? { "stroke-dasharray": card.live.dash(layer.colours[k]) } : {};
            const path = svg("path", { class: "dpl-ellipse", stroke: ink, fill, "data-level": level, ...dash });
            parts.push({ draw, k, level, path });
          });
          if (layer.centre && bold) {
            parts.push({ draw, k, path: svg("path", { class: "dpl-centre", stroke: ink }) });
          }
        }),
      );
      group.append(...parts.map((part) => part.path));
      return (step) => {
        const now = slice(layer.params, step, 3);
        for (const { draw, k, level, path } of parts) {
          const numbers = now[draw][k];
          if (!shown(path, numbers.every(finite))) continue;
          const [x, y] = [card.px(numbers[0]), card.py(numbers[1])];
          const plus = `M${x - 5} ${y}h10M${x} ${y - 5}v10`;
          path.setAttribute("d", level ? ellipsePath(card, numbers, level) : plus);
          // Wider than the card it would only dye it.
          if (level) path.style.fillOpacity = covers(card, numbers, level) ? 0 : "";
          path.dataset.cx = numbers[0];
          path.dataset.cy = numbers[1];
        }
      };
    },
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
        class: `dpl-line${layer.bold ? " dpl-strong" : ""}${layer.colour == null ? " dpl-quiet" : ""}`,
        stroke: ink,
        "stroke-dasharray": card.live.dash(layer.dash),
      });
      group.append(band, line);
      return (step) => {
        const [xs, ys] = xy(layer, step);
        line.setAttribute("d", linePath(card, xs, ys));
        if (!layer.lo) return;
        const [lo, hi] = [slice(layer.lo, step, 1), slice(layer.hi, step, 1)];
        const keep = xs.map((_, i) => i).filter((i) => finite(lo[i]) && finite(hi[i]));
        const round = [...keep, ...[...keep].reverse()];
        const x = round.map((i) => xs[i]);
        const y = round.map((i, n) => (n < keep.length ? hi : lo)[i]);
        band.setAttribute("d", `${linePath(card, x, y)}Z`.replace(/^Z$/, ""));
      };
    },
  },

  rule: {
    build(card, layer, group) {
      const line = svg("line", { class: "dpl-rule", "stroke-dasharray": card.live.dash(layer.dash) });
      const label = note(layer.label);
      group.append(line, label);
      return () => {
        const { x0, x1, y0, y1 } = card.frame;
        const places = [];
        if (layer.y != null) {
          const y = card.py(layer.y);
          set(line, { x1: x0, x2: x1, y1: y, y2: y });
          card.taken.push([x0, x1, y - 1, y + 1]);
          const sides = [[x0 + 6, "start"], [x1 - 6, "end"]];
          if (layer.side === "right") sides.reverse();
          for (const [x, anchor] of sides) places.push([x, y - 6, anchor], [x, y + 14, anchor]);
        } else {
          const x = card.px(layer.x);
          if (!shown(group, x >= x0 - 1 && x <= x1 + 1)) return;
          set(line, { x1: x, x2: x, y1: y0, y2: y1 });
          for (let y = y1 - 6; y > y0; y -= 15) places.push([x + 5, y, "start"]);
          places.push(...places.map(([, y]) => [x - 5, y, "end"]));
        }
        card.settle(label, places);
      };
    },
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
        const seen = shown(dot, across && finite(y));
        if (shown(line, across && layer.line)) set(line, { x1: x, x2: x, y1: y0, y2: y1 });
        // Beyond the frame it waits at the edge, hollow.
        if (seen) set(dot, { cx: x, cy: clamp(y, y0, y1) });
        dot.classList.toggle("dpl-beyond", seen && (y < y0 - 1 || y > y1 + 1));
      };
    },
  },

  bars: {
    // The longest bar of a step fills the card.
    build(card, layer, group) {
      const bars = layer.names.map((name, i) => {
        const title = svg("text", { class: "dpl-barname" }, [name]);
        const under = note();
        const label = svg("text", { class: "dpl-barlabel" });
        const bar = svg("rect", { class: "dpl-bar", rx: 4, fill: colour(layer.colours[i]) });
        const tip = svg("title", {}, [layer.tips[i] ?? ""]);
        const row = svg("g", { "data-bar": name }, [tip, bar, title, under, label]);
        group.append(row);
        return { row, title, under, label, bar };
      });
      const bold = 1.2; // the names' 14 px, bold, against the 13 px of the measure
      const names = Math.max(bold * card.widest(layer.names), card.widest(layer.notes.flat())) + 16;
      // Room for the labels of bars; a reason has no bar and may use all of the card.
      const numbers = layer.labels.flat().filter((text) => /^[^a-z]*\d/i.test(text));
      const room = bold * card.widest(numbers) + 24;
      return (step) => {
        const { x0, x1, y0, y1 } = card.frame;
        const values = slice(layer.values, step, 1);
        const most = Math.max(0, ...values.filter(finite)) || 1;
        const pitch = (y1 - y0) / bars.length;
        const tall = Math.min(34, pitch * 0.56);
        const left = x0 + names;
        bars.forEach(({ row, title, under, label, bar }, i) => {
          const middle = y0 + pitch * (i + 0.5);
          const seen = finite(values[i]);
          const wide = seen ? Math.max((values[i] / most) * (x1 - left - room), 2) : 0;
          const words = textsAt(layer.notes, step)[i];
          set(bar, { x: left, y: middle - tall / 2, width: wide, height: tall });
          place(title, x0, middle + (words ? -2 : 5));
          place(under, x0, middle + 14).textContent = words;
          const text = textsAt(layer.labels, step)[i];
          place(label, left + wide + (seen ? 8 : 0), middle + 5).textContent = text;
          row.classList.toggle("dpl-none", !shown(bar, seen));
          row.dataset.value = values[i] ?? "";
        });
      };
    },
  },

  ring: {
    build(card, layer, group) {
      const ring = svg("path", { class: "dpl-ring" });
      const grip = svg("path", {
        class: "dpl-grip", role: "slider", tabindex: 0, "aria-label": layer.label,
        "aria-valuemin": layer.limits[0], "aria-valuemax": layer.limits[1], "data-ring": layer.name,
      });
      const label = note(layer.label);
      for (const shape of [ring, grip]) set(shape, { "clip-path": `url(#${card.clip})` });
      group.append(ring, label, grip);
      let factor = 1;
      const draw = () => {
        const numbers = [layer.cx, layer.cy, layer.rx ** 2, 0, layer.ry ** 2];
        const d = ellipsePath(card, numbers, factor);
        set(ring, { d });
        set(grip, { d, "aria-valuenow": show(factor, 3), "data-factor": factor });
        place(label, card.px(layer.cx), card.py(layer.cy + factor * layer.ry) - 6, "middle");
      };
      // The same ring on another card moves along.
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
        const before = factor;
        follow(grip, down, (event) => {
          const [x, y] = card.dataAt(event);
          move(Math.hypot((x - layer.cx) / layer.rx, (y - layer.cy) / layer.ry));
        }, () => factor !== before && send());
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
  },
};

const COLUMNS = ["layer", "name", "item", "x", "y", "low", "high",
  "cov_xx", "cov_xy", "cov_yy", "half_x", "half_y", "weight", "value"];

/** What a table says of a layer at a step. */
function listed(layer, step) {
  const { rows } = LAYERS[layer.kind];
  if (rows) return rows(layer, step);
  const known = Object.entries(layer.table).filter(([, field]) => layer[field] != null)
    .map(([column, field]) => [column, [slice(layer[field], step, layer.depth)].flat()]);
  return (known[0]?.[1] ?? []).map((_, i) => ({
    layer: layer.title, name: layer.names?.[i] ?? (layer.name || at(layer.label, step)), item: i + 1,
    ...Object.fromEntries(known.map(([column, values]) => [column, values[i]])),
  }));
}

/** Cells of a heat layer at a step, image after image. */
function cellsOf({ bytes, shape: [steps, ...sizes] }, step) {
  const size = sizes.reduce((a, b) => a * b);
  return bytes.subarray((steps > 1 ? step : 0) * size).subarray(0, size);
}

// ---- one card

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

  /** New layers in the same card: zoom and focus stay. */
  update(panel) {
    this.panel = panel;
    this.root.classList.toggle("dpl-full", panel.width === "full");
    this.root.classList.toggle("dpl-bare", panel.bare);
    this.plot.style.height = `${panel.height - 52}px`;
    this.title.textContent = panel.title;
    this.painted = panel.layers.filter((layer) => LAYERS[layer.kind].paint);
    shown(this.canvas, this.painted.length);
    this.body.replaceChildren();
    this.over.replaceChildren();
    this.rings = [];
    this.layers = panel.layers.map((layer) => {
      const group = svg("g");
      // Rules' labels and the ring's grip may reach past the frame.
      const inside = ["ellipses", "curve", "spots"].includes(layer.kind);
      (inside ? this.body : this.over).append(group);
      const draw = LAYERS[layer.kind].build?.(this, layer, group);
      return { draw: draw ?? (() => {}), moves: layer.moves };
    });
    this.hair = svg("line", { class: "dpl-hair", visibility: "hidden" });
    this.labels = panel.layers
      .filter((l) => l.kind === "curve" && l.label_at === "end" && l.label.length)
      .map((layer) => {
        const text = svg("text", { class: "dpl-label" });
        const key = svg("line", { class: "dpl-line", "stroke-dasharray": this.live.dash(layer.dash) });
        key.style.stroke = colour(layer.colour);
        // Lines need 3:1 against the card, text 4.5:1: mix the colour with the ink.
        text.style.fill = `color-mix(in srgb, ${colour(layer.colour)} 55%, var(--dpl-ink))`;
        this.over.append(key, text);
        return { layer, text, key };
      });
    this.over.append(this.hair);
    // For the longest label of any step, so that nothing shifts while the slider moves.
    const longest = this.widest(this.labels.flatMap(({ layer }) => layer.label));
    this.labelRoom = longest && longest + 44;
  }

  /** Width of the longest of some texts at 13 px. */
  widest(texts) {
    const pen = this.canvas.getContext("2d");
    pen.font = `13px ${getComputedStyle(this.live.root).fontFamily}`;
    return Math.max(0, ...texts.map((text) => pen.measureText(text).width));
  }

  /** Room for the numbers beside an axis, in steps: zooming must not make it jitter. */
  leftRoom(view, height) {
    const { y } = this.panel;
    const ticks = [home(y), view.y].flatMap((range) => ticksOf(y, range, height / 50));
    const numbers = this.widest(ticks.map(tickText));
    return Math.max(MARGIN.left, 16 * Math.ceil((numbers + 38) / 16));
  }

  /** Everything: when size, zoom, theme or scene has changed. */
  layout(step) {
    const [width, height] = [this.plot.clientWidth, this.plot.clientHeight];
    if (!width || !height) return;
    set(this.svg, { viewBox: `0 0 ${width} ${height}`, width, height });
    if (this.panel.bare) {
      this.frame = { x0: 16, x1: width - 12, y0: 2, y1: height - 8, width, height };
      this.grid.replaceChildren();
    } else this.scales(width, height);
    this.taken = [];
    for (const { draw } of this.layers) draw(step);
    this.paint(step);
    this.texts(step);
  }

  /** The frame of the axes, and where data units are in it. */
  scales(width, height) {
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
    set(this.rect, { x: x0, y: y0, width: x1 - x0, height: y1 - y0 });
    this.drawAxes(view);
  }

  /** Only what depends on the step. */
  step(step) {
    if (!this.frame) return;
    for (const { draw, moves } of this.layers) if (moves) draw(step);
    if (this.painted.some((layer) => layer.moves)) this.paint(step);
    this.texts(step);
  }

  /** The canvas; `ratio`: its pixels for one of the page. */
  paint(step, ratio = window.devicePixelRatio || 1) {
    const { x0, x1, y0, y1, width, height } = this.frame;
    Object.assign(this.canvas, { width: width * ratio, height: height * ratio });
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.rect(x0, y0, x1 - x0, y1 - y0);
    pen.clip();
    for (const layer of this.painted) {
      pen.save();
      LAYERS[layer.kind].paint(this, layer, step, pen);
      pen.restore();
    }
  }

  /** Writes a label at the first of its places where it covers no other; else not at all. */
  settle(node, places) {
    const wide = this.widest([node.textContent]);
    const { x0, x1, y1 } = this.frame;
    const free = places.find(([x, y, anchor]) => {
      const left = x - wide * { start: 0, middle: 0.5, end: 1 }[anchor];
      const box = [left, left + wide, y - 11, y + 3];
      const clear = box[0] >= x0 && box[1] <= x1 && box[2] >= 0 && box[3] <= y1 &&
        this.taken.every(([a, b, c, d]) => box[1] < a || box[0] > b || box[3] < c || box[2] > d);
      if (clear) this.taken.push(box);
      return clear;
    });
    if (shown(node, free)) place(node, ...free);
  }

  /** Where the images of a heat layer and its key lie; a table's columns touch. */
  tiles({ shape: [, count, high, wide], rows, across }) {
    const { x0, x1, y0, y1 } = this.frame;
    const left = x0 + (rows.length && this.widest(rows) + 8);
    const [cell, floor] = [(x1 - left) / across, (y1 - y0 - 26) / Math.ceil(count / across)];
    const size = Math.min((cell - 10) / wide, (floor - 20) / high);
    const [width, height] = rows.length ? [cell, floor - 20] : [size * wide, size * high];
    const tiles = Array.from({ length: count }, (_, i) => ({
      x: left + ((i % across) + 0.5) * cell - width / 2,
      y: y0 + 6 + Math.floor(i / across) * floor, width, height,
    }));
    return { tiles, key: { x: x0 + 60, y: y1 - 10, width: 90, height: 9 } };
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
    const text = (content, x, y, anchor, more) =>
      nodes.push(place(svg("text", more, [content]), x, y, anchor));
    const rule = (x1, x2, y1, y2) => nodes.push(svg("line", { x1, x2, y1, y2 }));
    for (const v of ticksOf(y, view.y, (y1 - y0) / 50)) {
      const p = this.py(v);
      rule(x0, x1, p, p);
      text(tickText(v), x0 - 8, p + 4, "end");
    }
    for (const v of ticksOf(x, view.x, (x1 - x0) / 90)) {
      const p = this.px(v);
      rule(p, p, y0, y1);
      text(tickText(v), p, y1 + 17, "middle");
    }
    const title = { class: "dpl-axis" };
    text(x.label, (x0 + x1) / 2, y1 + 36, "middle", title);
    // A title longer than its axis is kept on the card.
    const half = Math.min(this.widest([y.label]) / 2 + 2, this.frame.height / 2);
    const middle = clamp((y0 + y1) / 2, half, this.frame.height - half);
    text(y.label, 20, middle, "middle", { ...title, transform: `rotate(-90 20 ${middle})` });
    this.grid.replaceChildren(...nodes);
  }

  /** Labels at the right end of their curves, pushed apart. */
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
      shown(key, (text.textContent = at(layer.label, step)));
      set(text, { x: x1 + 30, y: y + 4 });
      set(key, { x1: x1 + 8, x2: x1 + 25, y1: y, y2: y });
    }
  }

  // ---- zoom, pan, readout

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
    this.root.classList.add("dpl-panning");
    follow(this.svg, down, (event) => {
      const [u, v] = this.unit(event);
      const shift = ([a, b], t) => [a - t * (b - a), b - t * (b - a)];
      this.live.setView(this.panel, { x: shift(start.x, u - u0), y: shift(start.y, v - v0) });
    }, () => this.root.classList.remove("dpl-panning"));
  }

  /** The cell under the pointer, or every curve at the nearest x (never between two of them). */
  hover(event) {
    const { tile } = event?.target.dataset ?? {};
    const curves = this.panel.layers.filter((layer) => layer.kind === "curve" && layer.colour != null);
    const [u, v] = event && this.frame ? this.unit(event) : [-1, -1];
    const seen = curves.length > 0 && u >= 0 && u <= 1 && v >= 0 && v <= 1;
    this.readout.hidden = !seen && !tile;
    this.hair.setAttribute("visibility", seen ? "visible" : "hidden");
    if (tile) {
      const [, , high, wide] = this.panel.layers[0].shape;
      const box = event.target.getBoundingClientRect();
      const row = Math.floor(((event.clientY - box.y) / box.height) * high);
      const column = Math.floor(((event.clientX - box.x) / box.width) * wide);
      const cell = this.rows()[(tile * high + row) * wide + column];
      this.readoutAt(u * this.frame.width, [`${cell?.name} `, make("b", {}, [show(cell?.value, 2)])]);
    }
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
    const at_x = this.px(x);
    this.readoutAt(at_x, [head, ...lines]);
    set(this.hair, { x1: at_x, x2: at_x, y1: this.frame.y0, y2: this.frame.y1 });
  }

  /** Shows lines of text beside a place, on the side where there is more room. */
  readoutAt(x, lines) {
    const flip = x > this.frame.width / 2;
    this.readout.replaceChildren(...lines);
    this.readout.style.left = flip ? "" : `${x + 12}px`;
    this.readout.style.right = flip ? `${this.frame.width - x + 12}px` : "";
  }

  // ---- toolbar, table, files

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
    return this.panel.layers.flatMap((layer) => listed(layer, this.live.step));
  }

  toggleTable() {
    this.table.hidden = !this.table.hidden;
    this.plot.hidden = this.plot.inert = !this.table.hidden;
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
    const cell = (value) => (typeof value === "number"
      ? make("td", { class: "dpl-number" }, [show(value)]) : make("td", {}, [value ?? ""]));
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
      return `"${value.replace(/^([=+\-@\s])/, "'$1").replaceAll('"', '""')}"`;
    };
    const value = this.live.scene.steps[this.live.step];
    const lines = this.rows().map((row) => [value, ...COLUMNS.map((name) => quote(row[name]))].join(","));
    const text = [[quote(this.live.scene.symbol), ...COLUMNS].join(","), ...lines, ""].join("\n");
    this.save(new Blob([text], { type: "text/csv" }), "csv");
  }

  /** The picture as a file of its own: styles written into the elements. */
  standalone() {
    const { width, height } = this.frame;
    const copy = this.svg.cloneNode(true);
    const style = getComputedStyle(this.root);
    const names = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity",
      "stroke-dasharray", "font-size", "font-family", "font-weight", "paint-order"];
    const [live, dead] = [this.svg.querySelectorAll("*"), copy.querySelectorAll("*")];
    live.forEach((node, i) => {
      const computed = getComputedStyle(node);
      for (const name of names) dead[i].style.setProperty(name, plain(computed.getPropertyValue(name)));
    });
    const title = svg("text", { x: 16, y: -16, fill: style.color, "font-size": 15,
      "font-family": style.fontFamily }, [`${this.title.textContent}${this.subtitle.textContent}`]);
    const ground = svg("rect", { y: -40, width, height: height + 40, fill: style.backgroundColor });
    copy.prepend(ground, title);
    if (this.painted.length) {
      this.paint(this.live.step, 3); // sharp in print too
      title.after(svg("image", { href: this.canvas.toDataURL(), width, height }));
      this.paint(this.live.step);
    }
    set(copy, { xmlns: SVG, viewBox: `0 -40 ${width} ${height + 40}`, width, height: height + 40 });
    return new XMLSerializer().serializeToString(copy);
  }

  saveSVG() {
    this.save(new Blob([this.standalone()], { type: "image/svg+xml" }), "svg");
  }

  savePNG() {
    const picture = new Image();
    picture.onload = () => {
      const sheet = make("canvas", { width: picture.width * 2, height: picture.height * 2 });
      sheet.getContext("2d").drawImage(picture, 0, 0, sheet.width, sheet.height);
      sheet.toBlob((blob) => this.save(blob, "png"));
    };
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(this.standalone())}`;
  }

  save(blob, ending) {
    const url = URL.createObjectURL(blob);
    make("a", { href: url, download: `${this.panel.id}.${ending}` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }
}

// ---- the slider

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
      for (const name of ["pointerup", "pointercancel"]) {
        window.addEventListener(name, up, { once: true, capture: true });
      }
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

  /** By index where the slider counts positions, else by its label. */
  locate() {
    const number = (name) => Number(this.node.getAttribute(`aria-value${name}`)
      ?? this.node[name === "now" ? "value" : name]);
    const { positions, labels } = this.scene;
    const [now, low, high] = ["now", "min", "max"].map(number);
    if (high - low === positions.length - 1) return clamp(Math.round(now - low), 0, high - low);
    const text = this.node.getAttribute("aria-valuetext");
    const found = positions.findIndex((step) => labels[step] === text);
    return found < 0 ? null : found;
  }
}

// ---- the component

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
    // The width only: a layout may change the height.
    this.size = new ResizeObserver(() => {
      if (this.root.clientWidth !== this.width) this.layout();
    });
    this.size.observe(this.root);
    // Streamlit may add or replace the slider and the text slots after us.
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
        this.wheelOwner = [...this.cards.values()].find((c) => c.svg.contains(event.target));
      }
      this.wheeled = now;
    };
    window.addEventListener("wheel", this.wheel, { capture: true, passive: true });
  }

  /** Called by Streamlit with every new scene, or the same one in a new theme. */
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

  /** At its own position (or untouched) Python's step, else the thumb's. */
  choose() {
    const { position } = this.thumb;
    const { positions, thumb, step } = this.scene;
    const own = position === null || position === thumb || position === this.pinned;
    return own ? step : positions[position];
  }

  /** The theme's palette: Streamlit's own ground tells which. True if it changed. */
  paint() {
    const style = getComputedStyle(this.root);
    const pen = make("canvas").getContext("2d");
    pen.fillStyle = style.getPropertyValue("--st-background-color").trim() || "#ffffff";
    const zero = pen.fillStyle;
    const [r, g, b] = rgb(zero);
    const theme = 0.2126 * r + 0.7152 * g + 0.0722 * b < 128 ? "dark" : "light";
    const mark = `${theme} ${style.color} ${zero}`;
    const palette = this.scene.palette[theme];
    palette.forEach((hex, i) => this.root.style.setProperty(`--dpl-c${i}`, hex));
    Object.assign(this, { palette, zero });
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
    const same = kept?.axes === JSON.stringify([panel.x, panel.y]);
    return same ? kept : { x: home(panel.x), y: home(panel.y) };
  }

  setView(panel, view) {
    const group = this.group(panel);
    if (view) this.views.set(group, { ...view, axes: JSON.stringify([panel.x, panel.y]) });
    else this.views.delete(group);
    this.zoomed = group;
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
        if (this.zoomed === this.group(card.panel)) card.layout(this.step);
      }
      this.zoomed = null;
      this.draw();
    });
  }

  draw() {
    const began = performance.now();
    this.step = this.choose();
    const mark = `${this.scene.id} ${this.step}`;
    if (this.drawn !== mark) {
      for (const card of this.cards.values()) card.step(this.step);
      this.updates += 1;
      this.drawn = mark;
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

  /** Work that may wait until the hand rests. */
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
