/** Addresses of pages come after the `#`, so that any static host can serve the shop. */

/** `address("p", "mug", { tag: ["wood"], q: null })` is `#/p/mug?tag=wood`. */
export function address(...parts) {
  const query = typeof parts.at(-1) === "object" ? Object.entries(parts.pop()) : [];
  const pairs = query.flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  const search = new URLSearchParams(pairs.filter(([, value]) => value));
  return `#/${parts.map(encodeURIComponent).join("/")}${search.size > 0 ? `?${search}` : ""}`;
}

/** Opens an address. With `replace`, the browser's history does not keep the present page. */
export function go(hash, { replace = false } = {}) {
  if (location.hash === hash) dispatchEvent(new HashChangeEvent("hashchange"));
  else if (replace) location.replace(hash);
  else location.hash = hash;
}

export function parse(hash) {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const found = { query: new URLSearchParams(query) };
  try {
    [found.name = "", found.id] = path.split("/").map(decodeURIComponent);
  } catch {}
  return found;
}
