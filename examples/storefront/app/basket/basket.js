/** `{ id, lines: [{ product_id, variant_id?, quantity, … }] }`. The id is the `Idempotency-Key` of the order. */
const name = "shop basket";
const tell = () => dispatchEvent(new Event("basket"));

/** Returns the saved basket; an empty one if it is missing or damaged. */
export function readBasket() {
  try {
    const basket = JSON.parse(localStorage.getItem(name));
    if (basket.lines.every(({ quantity }) => quantity > 0)) return basket;
  } catch {}
  return { id: newId(), lines: [] };
}

function save(basket) {
  localStorage.setItem(name, JSON.stringify(basket));
  tell();
}

addEventListener("storage", ({ key }) => key === name && tell());

export function changeLines(change) {
  const basket = readBasket();
  save({ ...basket, lines: change(basket.lines) });
}

const isSameLine = (a, b) => a.product_id === b.product_id && a.variant_id === b.variant_id;

export function addLine(line) {
  changeLines((lines) => {
    const known = lines.find((one) => isSameLine(one, line));
    if (known) known.quantity += line.quantity;
    return known ? lines : [...lines, line];
  });
}

export function setQuantity(line, quantity) {
  changeLines((lines) =>
    lines.map((one) => (isSameLine(one, line) ? { ...one, quantity } : one)).filter((one) => one.quantity > 0),
  );
}

export function removeOrdered(ordered) {
  const lines = readBasket().lines.filter((line) => !ordered.some((one) => isSameLine(one, line)));
  save({ id: newId(), lines });
}

/** Makes a random id. Without TLS, browsers have no `crypto.randomUUID`; the API needs 22 characters or more. */
export const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
