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
 * Reads an order's number, such as `17` or `#17`, or its transfer reference in any case and with spaces.
 * @returns null for a reference with wrong check digits; undefined for any other text.
 */
export function readOrderNumber(text: string): number | null | undefined {
  const [, number] = /^#?([1-9]\d{0,14})$/.exec(text.trim()) ?? [];
  if (number !== undefined) return Number(number);
  const [, digits, referenced] = /^RF(\d\d)0*([1-9]\d{0,14})$/i.exec(text.replaceAll(/\s/g, "")) ?? [];
  if (referenced === undefined) return undefined;
  return checkDigits(Number(referenced)) === digits ? Number(referenced) : null;
}
