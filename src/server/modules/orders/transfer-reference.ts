// ISO 11649 computes the check digits from the number and "RF00", with R as 27 and F as 15.
const rf00 = 271_500;

function checkDigits(number: number): string {
  return String(98 - (((number % 97) * 1_000_000 + rf00) % 97)).padStart(2, "0");
}

/** Returns the reference of a bank transfer for an order's number: `RF`, check digits and number (ISO 11649). */
export function transferReference(number: number): string {
  return `RF${checkDigits(number)}${number}`;
}

/** SQL for the transfer reference of the column `number`. */
export const transferReferenceSql = `printf('RF%02d%d', 98 - ((number % 97) * 1000000 + ${rf00}) % 97, number)`;

/**
 * Reads a transfer reference in any case and with spaces.
 * @returns the order's number; null if the check digits are wrong; undefined for any other text.
 */
export function readTransferReference(text: string): number | null | undefined {
  const [, digits, body] = /^RF(\d\d)0*([1-9]\d{0,14})$/i.exec(text.replaceAll(/\s/g, "")) ?? [];
  if (body === undefined) return undefined;
  return checkDigits(Number(body)) === digits ? Number(body) : null;
}

/** Reads an order's number, such as `17` or `#17`, or its transfer reference. Returns null for wrong check digits. */
export function readOrderNumber(text: string): number | null | undefined {
  const referenced = readTransferReference(text);
  const [, number] = /^#?([1-9]\d{0,14})$/.exec(text.trim()) ?? [];
  return referenced === undefined && number !== undefined ? Number(number) : referenced;
}
