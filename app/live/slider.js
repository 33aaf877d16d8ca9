// @ts-check
// Streamlit's own slider: where its thumb is, and whether a hand is on it.

import { clamp } from "./format.js";

/** @import { Frames, Scene } from "./types.js" */

const KEYS_SETTLE = 1500; // ms after a key on the slider during which the thumb outranks Python

/**
 * The position of a slider: by its index where it counts positions, else by its label.
 * @param {{ now: number, min: number, max: number, text: string | null }} slider
 * @param {Pick<Scene, "positions" | "labels">} scene
 * @returns {number | null} `null` where the scene has no such position
 */
export function positionOf({ now, min, max, text }, { positions, labels }) {
  if (max - min === positions.length - 1) return clamp(Math.round(now - min), 0, max - min);
  const position = positions.findIndex((step) => labels[step] === text);
  return position < 0 ? null : position;
}

/**
 * The step to draw: Python's while the thumb is untouched or where Python put it, else the thumb's.
 * @param {Pick<Scene, "positions" | "thumb" | "step">} scene
 * @param {number | null} position of the thumb
 * @param {number | null} pinned position at which Python's step holds
 */
export function stepOf({ positions, thumb, step }, position, pinned) {
  const untouched = position === null || position === thumb || position === pinned;
  return untouched ? step : positions[position];
}

/** Follows a Streamlit slider by its accessible value. */
export class Slider {
  /** @type {Scene} the one that Python shows */ scene;
  /** @type {Scene[] | undefined} one a step, where each is another */ frames;
  /** @type {Element | null} */ box = null;
  /** @type {HTMLElement | null} */ node = null;
  /** @type {number | null} */ position = null;
  /** its CSS class */ name = "";
  held = false;
  keyed = -Infinity;

  /**
   * @param {(position: number | null) => void} moved
   * @param {() => void} touched by a pointer or a key, before it moves
   */
  constructor(moved, touched) {
    this.moved = moved;
    this.watch = new MutationObserver(() => this.read());
    this.press = () => {
      this.held = true;
      touched();
      const up = () => { this.held = false; };
      for (const name of ["pointerup", "pointercancel"]) {
        window.addEventListener(name, up, { once: true, capture: true });
      }
    };
    this.key = () => {
      this.keyed = performance.now();
      touched();
    };
  }

  /** What it moves. @param {string} name its CSS class @param {Scene | Frames} picture */
  follow(name, picture) {
    this.frames = "frames" in picture ? picture.frames : undefined;
    this.scene = "frames" in picture ? picture.frames[picture.step] : picture;
    this.name = name;
    this.bind();
  }

  /** The scene of a step. @param {number} step */
  at(step) {
    return this.frames?.[step] ?? this.scene;
  }

  /** Finds the slider (Streamlit may have replaced it) and starts to observe it. */
  bind() {
    const { name } = this;
    const box = document.querySelector(`.${CSS.escape(name)}`);
    /** @type {HTMLElement | null} */
    const node = box?.querySelector('input[type="range"], [role="slider"]') ?? null;
    if (node !== this.node) {
      this.release();
      this.node = node;
      this.box = box;
      if (box && node) {
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

  /** Writes a typed value over the thumb. @param {number | null} position */
  tell(position) {
    /** @type {HTMLElement | null | undefined} */
    const value = this.box?.querySelector("[data-testid=stSliderThumbValue] p");
    const typed = typedAt(this.scene, position);
    if (value && typed !== null) value.dataset.typed = typed;
    else delete value?.dataset.typed;
  }

  read() {
    const position = this.node ? positionOf(valuesOf(this.node), this.scene) : null;
    this.tell(position);
    if (position === this.position) return;
    this.position = position;
    this.moved(position);
  }
}

/**
 * What stands over a thumb in place of its stop: a value that was typed and is none; `null` where
 * the thumb is at what is drawn.
 * @param {Pick<Scene, "positions" | "thumb" | "step" | "labels">} scene
 * @param {number | null} position of the thumb
 */
export const typedAt = ({ positions, thumb, step, labels }, position) =>
  position === thumb && !positions.includes(step) ? labels[step] : null;

/**
 * What a slider says of itself: by its accessible attributes, or as an input.
 * @param {HTMLElement} node
 */
function valuesOf(node) {
  const input = /** @type {HTMLInputElement} */ (node);
  return {
    now: Number(node.getAttribute("aria-valuenow") ?? input.value),
    min: Number(node.getAttribute("aria-valuemin") ?? input.min),
    max: Number(node.getAttribute("aria-valuemax") ?? input.max),
    text: node.getAttribute("aria-valuetext"),
  };
}
