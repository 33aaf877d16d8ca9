// @ts-check
// The component of Streamlit: one live picture, or the path, in each element that it is mounted in.

import { Live } from "./live.js";
import { Path } from "./path.js";

/** @import { Delivery } from "./types.js" */
/** @typedef {Omit<Delivery, "data"> & { data: Uint8Array }} Sent JSON as bytes */

/** @type {WeakMap<HTMLElement, { drawn: Live | Path, latest: Sent }>} */
const MOUNTED = new WeakMap();

/** Entry point: Streamlit calls it at mount and at every change of data or theme. Where data change
 * while the module is still loading, it cleans up after the first call only once the second has been
 * made: what a later call draws in is left alone.
 * @param {Sent} delivery */
export default function (delivery) {
  const { parentElement, setTriggerValue } = delivery;
  /** @type {Delivery["data"]} */
  const data = JSON.parse(new TextDecoder().decode(delivery.data));
  const drawn = MOUNTED.get(parentElement)?.drawn
    ?? (data.path ? new Path(parentElement) : new Live(parentElement));
  MOUNTED.set(parentElement, { drawn, latest: delivery });
  if (drawn instanceof Path) drawn.receive(data.path ?? []);
  else drawn.receive({ data, setTriggerValue });
  return () => {
    if (MOUNTED.get(parentElement)?.latest !== delivery) return;
    drawn.remove();
    MOUNTED.delete(parentElement);
  };
}
