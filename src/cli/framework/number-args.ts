import { UsageError } from "./usage-error.ts";

/**
 * A whole number from 1 on.
 * @throws UsageError naming the flag.
 */
export function parseCount(flag: string, text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  const message = "must be a whole number from 1 on";
  throw new UsageError(`${flag} ${message}.`, { details: [{ field: flag, message }] });
}
