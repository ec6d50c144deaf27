import { LruCache } from "../values/lru-cache.ts";

export interface SqlShape {
  /** The first keyword in upper case; empty for a blank statement. */
  verb: string;
  /** Whether the statement cannot change anything, so that a read-only connection can run it. */
  reads: boolean;
  /** The number of parameters, written `?` or `?1`. Named parameters are not supported. */
  params: number;
  /** Whether text follows the first statement. The engine would ignore that text. */
  several: boolean;
}

const tokens =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`(?:[^`]|``)*`?|\[[^\]]*\]?|\?\d*|[A-Za-z_][\w$]*|[();]|\S/g;
const word = /^[A-Za-z_]/;
const changes = new Set(["INSERT", "UPDATE", "DELETE"]);
const readingPragmas =
  /^\s*PRAGMA\s+(?:\w+\.)?(?:(?:table_x?info|table_list|index_x?info|index_list|foreign_key_(?:list|check)|integrity_check|quick_check)\b|\w+\s*;?\s*$)/i;
const actingPragmas = /^\s*PRAGMA\s+(?:\w+\.)?(?:wal_checkpoint|optimize|incremental_vacuum|shrink_memory)\b/i;

const shapes = new LruCache<SqlShape>(512);

export function shapeOf(sql: string): SqlShape {
  return shapes.getOrMake(sql, scanSql);
}

/** Describes a statement by its text. A statement with an unknown verb counts as a write. */
export function scanSql(sql: string): SqlShape {
  const found = [...sql.matchAll(tokens)].map(([token]) => token).filter((token) => !/^(?:--|\/\*)/.test(token));
  const verbAt = found.findIndex((token) => word.test(token));
  const verb = found[verbAt]?.toUpperCase() ?? "";
  const end = verbAt === -1 ? -1 : found.indexOf(";", verbAt);
  const isFollowed = end !== -1 && found.slice(end).some((token) => token !== ";");
  const trigger =
    verb === "CREATE" && /^(?:\s|--.*\n|\/\*[\s\S]*?\*\/)*CREATE\s+(?:TEMP(?:ORARY)?\s+)?TRIGGER\b/i.test(sql);
  const marks = found.filter((token) => token.startsWith("?"));
  const countOf = (count: number, mark: string) => (mark === "?" ? count + 1 : Math.max(count, Number(mark.slice(1))));
  const params = marks.reduce(countOf, 0);
  return { verb, reads: isReading(sql, verb, found), params, several: isFollowed && !trigger };
}

/** Whether a statement that begins with WITH changes rows. Only such statements contain these words outside strings. */
function hasChange(found: readonly string[]): boolean {
  const words = found.map((token) => token.toUpperCase());
  return words.some((word, at) => changes.has(word) || (word === "INTO" && words[at - 1] === "REPLACE"));
}

function isReading(sql: string, verb: string, found: readonly string[]): boolean {
  if (verb === "SELECT" || verb === "VALUES" || verb === "EXPLAIN") return true;
  if (verb === "WITH") return !hasChange(found);
  return verb === "PRAGMA" && readingPragmas.test(sql) && !actingPragmas.test(sql);
}

export const controlVerbs = new Set(["BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE"]);
const ownPragmas = /\b(?:wal_checkpoint|wal_autocheckpoint|journal_mode|synchronous|query_only|busy_timeout)\b/i;

/** Throws TypeError for a statement that only the data layer itself may run. */
export function assertOrdinary(sql: string): void {
  const { verb } = shapeOf(sql);
  if (controlVerbs.has(verb) || (verb === "PRAGMA" && ownPragmas.test(sql))) {
    throw new TypeError("Only the data layer begins and ends transactions and sets pragmas for durability.");
  }
}
