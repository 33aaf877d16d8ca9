// What Python sends (dpcore/figures/scene.py, layers.py) and what the modules hand to each other.
// For the type checker alone: nothing of this file is part of the component.

import type { Card } from "./card.js";
import type { Screen } from "./path.js";

/** Numbers of one step; JSON has no NaN, so what is missing is null. */
export type Numbers = (number | null)[];
/** One text, or one a step. */
export type Text = string | string[];
/** Texts of one step, or those of every step. */
export type Texts = string[] | string[][];
/** A MathML tag, then its parts. */
export type Formula = (string | Formula)[];
export type Range = [number, number];
export type Anchor = "start" | "middle" | "end";
/** Mean x and y, covariance xx, xy and yy, weight. */
export type Gaussian = number[];

export interface Axis {
  label: string;
  range: Range;
  log?: boolean;
  ticks?: number[];
  names?: string[];
  /** Numbers are days since 1970-01-01. */
  days?: boolean;
}

/** What of both axes is visible, in their own scale: powers of ten on a log axis. */
export interface View {
  x: Range;
  y: Range;
}

/** The axes' rectangle on the card, in pixels, and the size of the picture. */
export interface Frame {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
  width: number;
  height: number;
}

/** From data units to pixels; NaN for what is no number. */
export type Scale = (value: number | null) => number;
export interface Scales {
  px: Scale;
  py: Scale;
}

/** Left, right, top, bottom in pixels. */
export type Box = [number, number, number, number];
export type Place = [x: number, y: number, anchor: Anchor];
export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A layer has the fields of its kind (dpcore/figures/layers.py). */
export interface Layer {
  kind: string;
  moves: boolean;
  title: string;
  table: Record<string, string>;
  depth: number;
  /** Of another view: drawn thin, in one colour. */
  pinned?: boolean;
  [field: string]: any;
}

/** A line of a table or file: its columns are those of `COLUMNS`. */
export type Row = Record<string, string | number | null | undefined>;

export interface LayerKind {
  /** Make the elements once; what it returns draws a step. */
  build?: (card: Card, layer: any, group: SVGGElement) => (step: number) => void;
  /** Draw on the canvas below them: one repaint, however much there is. */
  paint?: (card: Card, layer: any, step: number, pen: CanvasRenderingContext2D) => void;
  /** Lines of tables and files, where the columns that a layer names do not suffice. */
  rows?: (layer: any, step: number) => Row[];
  /** Whether it ends at the axes' frame; others may reach past it. */
  clipped?: boolean;
}

export interface Panel {
  id: string;
  title: string;
  subtitle: Text;
  alt: Text;
  x: Axis;
  y: Axis;
  link: string | null;
  width: "half" | "full";
  height: number;
  bare: boolean;
  /** Whether a button plays the steps up to the current one. */
  film: boolean;
  /** Lists in its head. */
  choices: { name: string; label: string; options: string[]; at: number }[];
  /** Key of the pinned layers. */
  pin?: string;
  /** The step whose layers stand at each step, where not every one has its own yet. */
  nearest?: number[];
  layers: Layer[];
}

export interface Palette {
  light: string[];
  dark: string[];
  dashes: string[];
  markers: string[];
}

export interface Scene {
  id: string;
  symbol: string;
  steps: number[];
  labels: string[];
  positions: number[];
  panels: Panel[];
  live_text: Record<string, string[]>;
  palette: Palette;
  step: number;
  thumb: number;
}

/** A scene for each step of a slider, and the current step. */
export interface Frames {
  frames: Scene[];
  step: number;
}

/** What is drawn, and the CSS class of the slider that it follows. */
export interface SliderScenes {
  scene: Scene | Frames;
  slider: string;
}

/** The same of one scene. */
export interface Picture {
  scene: Scene;
  slider: string;
}

/** What Streamlit hands to a component; the first picture is the one that Python shows. */
export interface Delivery {
  parentElement: HTMLElement;
  data: { pictures: SliderScenes[]; path?: Screen[] };
  setTriggerValue: (name: string, value: unknown) => void;
}

export interface Ring {
  name: string;
  resize: (factor: number) => void;
}
