import { shop } from "./shop.js";
import { t } from "./words.js";

let reading;

/** Returns the settings of the store, and fetches them only once. */
export function readStore() {
  reading ??= shop.store().catch((error) => {
    reading = undefined;
    throw error;
  });
  return reading;
}

/** Returns "incl. VAT" or "plus VAT"; a store that charges no tax has its own note. */
export const taxNote = ({ tax_note: note, prices_include_tax: isIncluded }) =>
  note ?? t(isIncluded ? "tax.included" : "tax.plus");

/** Returns the note about tax and shipping for a price. */
export function priceNote(store) {
  if (!store.has_shipping_rates) return taxNote(store);
  const isSentence = store.tax_note && store.tax_note === sentence(store.tax_note);
  return t(isSentence ? "tax.thenShipping" : "tax.plusShipping", { tax: taxNote(store) });
}

export const sentence = (text) => (/[.!?]$/.test(text) ? text : `${text}.`);
