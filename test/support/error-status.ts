import { codeOf, errorKinds, statusOf } from "../../src/server/errors.ts";

/** Returns the HTTP status of an error code. Throws for an unknown code. */
export function statusOfCode(code: number): number {
  const kind = errorKinds.find((one) => codeOf(one) === code);
  if (kind === undefined) throw new Error(`${code} is not an error code`);
  return statusOf(kind);
}
