// @ts-check
// The component of Streamlit: one live picture in each element that it is mounted in.

import { Live } from "./live.js";

/** @import { Delivery } from "./types.js" */

/** @type {WeakMap<HTMLElement, Live>} */
const MOUNTED = new WeakMap();

/** Entry point: Streamlit calls it at mount and at every change of data or theme.
 * @param {Delivery} delivery */
export default function (delivery) {
  const { parentElement } = delivery;
  const live = MOUNTED.get(parentElement) ?? new Live(parentElement);
  MOUNTED.set(parentElement, live);
  live.receive(delivery);
  return () => {
    live.remove();
    MOUNTED.delete(parentElement);
  };
}
