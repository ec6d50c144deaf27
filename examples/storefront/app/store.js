import { shop } from "./shop.js";
import { t } from "./words.js";

let reading;

/** Fetches the settings of the store once. */
export function readStore() {
  reading ??= shop.store().catch((error) => {
    reading = undefined;
    throw error;
  });
  return reading;
}

/** "incl. VAT", "plus VAT", or the note of a store that charges no tax. */
export const taxNote = ({ tax_note: note, prices_include_tax: isIncluded }) =>
  note ?? t(isIncluded ? "tax.included" : "tax.plus");

export function priceNote(store) {
  if (!store.has_shipping_rates) return taxNote(store);
  const isSentence = store.tax_note && store.tax_note === sentence(store.tax_note);
  return t(isSentence ? "tax.thenShipping" : "tax.plusShipping", { tax: taxNote(store) });
}

export const sentence = (text) => (/[.!?]$/.test(text) ? text : `${text}.`);
