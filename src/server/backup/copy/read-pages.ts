import { type CopiedValue, pageSql, type ReadRows, type TablePlan } from "./table-plan.ts";

const maxRows = 1000;
const firstRows = 100;
/** What a page should hold; a libSQL server refuses to answer with more than ten times as much. */
const pageBytes = 1024 * 1024;

/** Reads a table page by page, so that no more than a page of it is in memory. Pages with large rows have fewer. */
export async function* readPages(read: ReadRows, table: TablePlan): AsyncGenerator<CopiedValue[][]> {
  let limit = firstRows;
  let after: CopiedValue[] | undefined;
  for (;;) {
    let page: CopiedValue[][];
    try {
      page = await read(pageSql(table, limit, after === undefined), after);
    } catch (error) {
      if (limit === 1 || !isTooLarge(error)) throw error;
      limit = Math.floor(limit / 2);
      continue;
    }
    if (page.length > 0) yield page;
    if (page.length < limit) return;
    const last = page.at(-1) as CopiedValue[];
    after = table.key.map((at) => last[at] as CopiedValue);
    limit = Math.min(maxRows, Math.max(1, Math.floor((page.length * pageBytes) / sizeOf(page))));
  }
}

/** About how many bytes rows take; never 0. */
export function sizeOf(rows: readonly CopiedValue[][]): number {
  let bytes = 1;
  for (const row of rows) {
    for (const value of row) {
      if (typeof value === "string") bytes += value.length;
      else if (value instanceof ArrayBuffer || value instanceof Uint8Array) bytes += value.byteLength;
      else bytes += 8;
    }
  }
  return bytes;
}

function isTooLarge(error: unknown): boolean {
  return (error as { code?: string } | undefined)?.code === "RESPONSE_TOO_LARGE";
}
