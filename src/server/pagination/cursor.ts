import { malformedRequest } from "../errors.ts";

/** Where a page ended: the sort value and the id of its last row. */
export interface Position {
  value: string | number;
  id: string;
}

/**
 * The opaque cursor of a position, bound to what was asked: another sort, filter or tenant cannot use it.
 * @param asked everything that decides which rows come in which order.
 */
export function encodeCursor(position: Position, asked: readonly unknown[]): string {
  const { value, id } = position;
  return Buffer.from(JSON.stringify([digest([asked, value, id]), value, id])).toString("base64url");
}

/**
 * The position of a cursor.
 * @throws malformedRequest for one that is broken or was made for another question.
 */
export function decodeCursor(cursor: string, asked: readonly unknown[]): Position {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    parts = undefined;
  }
  const [bound, value, id] = Array.isArray(parts) && parts.length === 3 ? parts : [];
  const isValue = typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value));
  if (bound !== digest([asked, value, id]) || !isValue || typeof id !== "string") {
    throw malformedRequest("`cursor` is broken, or was made for another sort or filter; begin at the first page.");
  }
  return { value, id };
}

/** Binds a position to its question. Whoever forges it can only ask for rows that they may read anyway. */
function digest(bound: readonly unknown[]): string {
  return Bun.hash(JSON.stringify(bound)).toString(36);
}
