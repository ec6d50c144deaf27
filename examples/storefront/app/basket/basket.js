/**
 * The basket, which stays in this browser. A line keeps what it looked like when it was added; the prices that count are the store's
 * at the time of the order. The basket's id is the `Idempotency-Key` of that order: if a reload or a second tab sends it again, the
 * store answers with the order that it has. Changes are an event.
 */
const name = "shop basket";
const tell = () => dispatchEvent(new Event("basket"));

/** `{ id, lines: [{ product_id, variant_id?, quantity, … }] }`. */
export const readBasket = () => JSON.parse(localStorage.getItem(name)) ?? { id: newId(), lines: [] };

function save(basket) {
  localStorage.setItem(name, JSON.stringify(basket));
  tell();
}

addEventListener("storage", ({ key }) => key === name && tell());

/** Changes the lines. The function gets them, and returns what is left of them. */
export function changeLines(change) {
  const basket = readBasket();
  save({ ...basket, lines: change(basket.lines) });
}

/** A line is a product in one variant. */
const isSameLine = (a, b) => a.product_id === b.product_id && a.variant_id === b.variant_id;

/** Adds a line, or to the line that is there. */
export function addLine(line) {
  changeLines((lines) => {
    const known = lines.find((one) => isSameLine(one, line));
    if (known) known.quantity += line.quantity;
    return known ? lines : [...lines, line];
  });
}

/** Sets how many a line has; none removes it. */
export function setQuantity(line, quantity) {
  changeLines((lines) =>
    lines.map((one) => (isSameLine(one, line) ? { ...one, quantity } : one)).filter((one) => one.quantity > 0),
  );
}

/** Gives the basket another id, for a further order; after an order, without lines. */
export function renewBasket(lines = []) {
  save({ id: newId(), lines });
}

/** `crypto.randomUUID` is missing in pages without TLS. */
const newId = () => crypto.getRandomValues(new Uint32Array(4)).join("-");
