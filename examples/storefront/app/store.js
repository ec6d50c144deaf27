import { shop } from "./shop.js";
import { t } from "./words.js";

let reading;

/** The settings of the store, read once. */
export function readStore() {
  reading ??= shop.store().catch((error) => {
    reading = undefined;
    throw error;
  });
  return reading;
}

/** "incl. VAT", "plus VAT", or what a store says that charges none. */
export const taxNote = ({ tax_note: note, prices_include_tax: isIncluded }) =>
  note ?? t(isIncluded ? "tax.included" : "tax.plus");

/** The note beside a price, about tax and shipping. */
export function priceNote(store) {
  if (!store.has_shipping_rates) return taxNote(store);
  const isSentence = store.tax_note && store.tax_note === sentence(store.tax_note);
  return t(isSentence ? "tax.thenShipping" : "tax.plusShipping", { tax: taxNote(store) });
}

export const sentence = (text) => (/[.!?]$/.test(text) ? text : `${text}.`);
