import { h } from "./dom.js";

/** Saves a text as a file of the browser. It is never opened as a page of this address. */
export function save(name, text, type) {
  const href = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
