/** Addresses stand behind the hash, so that any static host can serve the shop. */

/** The address of a page: `address("p", "enamel-mug")`, the last may be its query. */
export function address(...parts) {
  const query = typeof parts.at(-1) === "object" ? new URLSearchParams(parts.pop()) : "";
  return `#/${parts.map(encodeURIComponent).join("/")}${String(query) && `?${query}`}`;
}

/** Goes to an address. `replace` leaves no entry in the history, such as after a sign-in. */
export function go(hash, { replace = false } = {}) {
  if (location.hash === hash) dispatchEvent(new HashChangeEvent("hashchange"));
  else if (replace) location.replace(hash);
  else location.hash = hash;
}

/** `#/p/enamel-mug?x=y` is the page `p`, the id `enamel-mug`, and a query. */
export function parse(hash) {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [name = "", id] = path.split("/").map(decodeURIComponent);
  return { name, id, query: new URLSearchParams(query) };
}
