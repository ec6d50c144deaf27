import { malformedRequest } from "../errors.ts";
import { attempt } from "../values/attempt.ts";

/** The sort value and id of a page's last row. */
export interface Position {
  value: string | number;
  id: string;
}

/** `asked` binds the cursor to sort, filter and tenant. */
export function encodeCursor(position: Position, asked: readonly unknown[]): string {
  const { value, id } = position;
  return Buffer.from(JSON.stringify([digest([asked, value, id]), value, id])).toString("base64url");
}

/** Throws malformedRequest for an invalid cursor or that of another list. */
export function decodeCursor(cursor: string, asked: readonly unknown[]): Position {
  const parts: unknown = attempt(() => JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")));
  const [bound, value, id] = Array.isArray(parts) && parts.length === 3 ? parts : [];
  const isValue = typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value));
  if (bound !== digest([asked, value, id]) || !isValue || typeof id !== "string") {
    throw malformedRequest("`cursor` is invalid, or belongs to another sort or filter. Start again without it.");
  }
  return { value, id };
}

/** No secret is needed: a forged cursor only selects rows that its caller may read anyway. */
function digest(bound: readonly unknown[]): string {
  return Bun.hash(JSON.stringify(bound)).toString(36);
}
