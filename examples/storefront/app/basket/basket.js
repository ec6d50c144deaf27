/**
 * The basket stays in this browser: `{ id, lines: [{ product_id, variant_id?, quantity, … }] }`. Its id is the `Idempotency-Key` of
 * its order: if a reload or a second tab sends it again, the store answers with the order that it has.
 */
const name = "shop basket";
const tell = () => dispatchEvent(new Event("basket"));

export const readBasket = () => JSON.parse(localStorage.getItem(name)) ?? { id: newId(), lines: [] };

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

/** Gives the basket another id, for a further order; after an order, without lines. */
export function renewBasket(lines = []) {
  save({ id: newId(), lines });
}

/** `crypto.randomUUID` is missing in pages without TLS. */
const newId = () => crypto.getRandomValues(new Uint32Array(4)).join("-");
