// ISO 11649 computes with "RF00" after the number, and with R as 27 and F as 15.
const rf00 = 271_500;

function checkDigits(number: number): string {
  return String(98 - (((number % 97) * 1_000_000 + rf00) % 97)).padStart(2, "0");
}

/** The reference of a bank transfer for the order with this number: `RF` with check digits, ISO 11649. */
export function transferReference(number: number): string {
  return `RF${checkDigits(number)}${number}`;
}

/** SQL for the transfer reference of the column `number`. */
export const transferReferenceSql = `printf('RF%02d%d', 98 - ((number % 97) * 1000000 + ${rf00}) % 97, number)`;

/**
 * Reads a reference as people type it, in any case and with spaces.
 * @returns the order's number; null if its check digits are wrong; undefined for any other text.
 */
export function readTransferReference(text: string): number | null | undefined {
  const [, digits, body] = /^RF(\d\d)0*([1-9]\d{0,14})$/i.exec(text.replaceAll(/\s/g, "")) ?? [];
  if (body === undefined) return undefined;
  return checkDigits(Number(body)) === digits ? Number(body) : null;
}

/** Reads a transfer reference as `readTransferReference` does, or a number of an order, such as `17` or `#17`. */
export function readOrderNumber(text: string): number | null | undefined {
  const referenced = readTransferReference(text);
  const [, number] = /^#?([1-9]\d{0,14})$/.exec(text.trim()) ?? [];
  return referenced === undefined && number !== undefined ? Number(number) : referenced;
}
