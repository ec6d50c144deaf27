import { codeOf, errorKinds, statusOf } from "../../src/server/errors.ts";

/** The HTTP status that goes with a numeric code; throws for a number that is no code. */
export function statusOfCode(code: number): number {
  const kind = errorKinds.find((one) => codeOf(one) === code);
  if (kind === undefined) throw new Error(`${code} is not an error code`);
  return statusOf(kind);
}
