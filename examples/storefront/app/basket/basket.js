/**
 * The basket, which stays in this browser. A line keeps what it looked like when it was added; the prices that count are the
 * store's at the time of the order.
 */
const name = "shop basket";
const listeners = new Set();

/** `{ id, lines: [{ product_id, variant_id?, quantity, … }] }`. */
export function readBasket() {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? newBasket();
  } catch {
    return newBasket();
  }
}

/** Calls back when the basket changes, also in another tab. */
export function onBasket(listener) {
  listeners.add(listener);
}

addEventListener("storage", (event) => {
  if (event.key === name) tell();
});

export const countPieces = () => readBasket().lines.reduce((sum, { quantity }) => sum + quantity, 0);

/** A line is a product in one variant. */
export const isSameLine = (a, b) => a.product_id === b.product_id && a.variant_id === b.variant_id;

/** Adds a line, or to the line that is there. */
export function addLine(line) {
  const basket = readBasket();
  const known = basket.lines.find((one) => isSameLine(one, line));
  if (known) known.quantity += line.quantity;
  else basket.lines.push(line);
  save(basket);
}

/** Sets how many a line has; none removes it. */
export function setQuantity(line, quantity) {
  const basket = readBasket();
  basket.lines = basket.lines.flatMap((one) =>
    isSameLine(one, line) ? (quantity > 0 ? { ...one, quantity } : []) : one,
  );
  save(basket);
}

/** Replaces the lines by what the store says about them now. */
export function updateLines(lines) {
  save({ ...readBasket(), lines });
}

export function emptyBasket() {
  save(newBasket());
}

/**
 * Gives the basket another id. The id is the `Idempotency-Key` of its order: a reload or a second tab repeats the same order,
 * and the store answers with the one that it has.
 */
export function renewBasket() {
  save({ ...readBasket(), id: newId() });
}

function newBasket() {
  return { id: newId(), lines: [] };
}

/** `crypto.randomUUID` is missing in pages without TLS. */
function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function save(basket) {
  localStorage.setItem(name, JSON.stringify(basket));
  tell();
}

function tell() {
  for (const listener of listeners) listener();
}
