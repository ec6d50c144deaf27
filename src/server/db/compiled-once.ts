import { LruCache } from "../values/lru-cache.ts";
import type { CompiledStatement } from "./statement.ts";

/** The last compiled statements whose text depends on a call; thousands are possible. */
const statements = new LruCache<unknown>(400);

export function compiledOnce<Row>(name: string, compile: () => CompiledStatement<Row>): CompiledStatement<Row> {
  return statements.getOrMake(name, compile) as CompiledStatement<Row>;
}
