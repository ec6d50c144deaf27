/** Returns the address of a page: `address("orders", "ord_1", { q: "17" })` is `#/orders/ord_1?q=17`. */
export function address(...parts) {
  const query = typeof parts.at(-1) === "object" ? Object.entries(parts.pop()) : [];
  const search = new URLSearchParams(query.filter(([, value]) => value));
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
    [found.name = "", found.id, found.part] = path.split("/").map(decodeURIComponent);
  } catch {}
  return found;
}
