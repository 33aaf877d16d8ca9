// @ts-check
// Present mode in the explorer: begun once, and opened at once where the link asks for it.

import { Presenter } from "./presenter.js";

const { dataset } = document.documentElement;
if (dataset.presents === undefined) {
  const presenter = new Presenter();
  presenter.show(dataset.presentAsked === "true");
  dataset.presents = "";
}
