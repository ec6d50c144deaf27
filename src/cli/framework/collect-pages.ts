import type { ListPage } from "../../server/pagination/list-page.ts";

// The maximum of the services.
const maxPageSize = 100;

/**
 * Reads pages until there are `limit` records or no more.
 * @returns also whether there are more records.
 */
export async function collectPages<T>(
  limit: number,
  readPage: (query: { limit: number; cursor?: string }) => Promise<ListPage>,
): Promise<{ records: T[]; hasMore: boolean }> {
  const records: T[] = [];
  let cursor: string | undefined;
  do {
    const size = Math.min(maxPageSize, limit - records.length);
    const { json, page } = await readPage({ limit: size, ...(cursor !== undefined && { cursor }) });
    records.push(...(JSON.parse(json) as T[]));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && records.length < limit);
  return { records, hasMore: cursor !== undefined };
}
