// @ts-check
// The component of Streamlit: one live picture, or the path, in each element that it is mounted in.

import { Live } from "./live.js";
import { Path } from "./path.js";

/** @import { Delivery } from "./types.js" */
/** @typedef {Omit<Delivery, "data"> & { data: Uint8Array }} Sent JSON as bytes */

/** @type {WeakMap<HTMLElement, Live | Path>} */
const MOUNTED = new WeakMap();

/** Entry point: Streamlit calls it at mount and at every change of data or theme.
 * @param {Sent} delivery */
export default function (delivery) {
  const { parentElement, setTriggerValue } = delivery;
  /** @type {Delivery["data"]} */
  const data = JSON.parse(new TextDecoder().decode(delivery.data));
  const found = MOUNTED.get(parentElement)
    ?? (data.path ? new Path(parentElement) : new Live(parentElement));
  MOUNTED.set(parentElement, found);
  if (found instanceof Path) found.receive(data.path ?? []);
  else found.receive({ data, setTriggerValue });
  return () => {
    found.remove();
    MOUNTED.delete(parentElement);
  };
}
