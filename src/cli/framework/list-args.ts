import type { ListPage } from "../../server/pagination/list-page.ts";
import { type FlagArg, namespaceArg, valueArg } from "./args.ts";
import { parseCount, parsePastTime } from "./parse-values.ts";

// The maximum of the services.
const maxPageSize = 100;

export const requiredNamespaceArg = { ...namespaceArg, required: true } as const satisfies FlagArg;

export const namespaceFilterArg = {
  ...namespaceArg,
  description: "Filter by store (default: all)",
} as const satisfies FlagArg;

export const userFilterArg = { ...valueArg("id|email", "Filter by user"), completes: "user" } as const;

export const sinceArg = {
  ...valueArg("duration|time", "Created at or after: 2026-11-01 (a day), 7d (ago), or 2030-01-31T12:00:00Z"),
  parse: parsePastTime,
};

export const untilArg = {
  ...sinceArg,
  description: "Created before: 2026-11-01 (a day), 7d (ago), or 2030-01-31T12:00:00Z",
};

export function limitArg(defaultLimit: string, max?: number) {
  const description = `Maximum number of rows${max === undefined ? "" : `, up to ${max}`}`;
  return { ...valueArg("number", description), default: defaultLimit, parse: parseCount };
}

/** Reads pages until there are `limit` records or no more. */
export async function collectPages<T>(
  limit: number,
  readPage: (query: { limit: number; cursor?: string }) => Promise<ListPage>,
): Promise<T[]> {
  const records: T[] = [];
  let cursor: string | undefined;
  do {
    const size = Math.min(maxPageSize, limit - records.length);
    const { json, page } = await readPage({ limit: size, ...(cursor !== undefined && { cursor }) });
    records.push(...(JSON.parse(json) as T[]));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && records.length < limit);
  return records;
}
