import type { ApiReply, Call } from "./client.ts";

type Query = Record<string, string | number>;

/** Reads all pages of a list. `between` runs after each page except the last. Throws if a page is refused. */
export async function readPages<T>(
  call: Call,
  request: string,
  query: Query,
  between: (page: number, reply: ApiReply<T[]>) => unknown = () => {},
): Promise<T[]> {
  const found: T[] = [];
  let cursor: string | null = null;
  for (let page = 1; page < 1000; page++) {
    const reply: ApiReply<T[]> = await call(request, { query: { ...query, ...(cursor !== null && { cursor }) } });
    if (reply.status !== 200) throw new Error(reply.text);
    found.push(...reply.data);
    cursor = reply.page.next_cursor;
    if (reply.page.has_more !== (cursor !== null)) throw new Error(`has_more is wrong: ${reply.text}`);
    if (cursor === null) return found;
    await between(page, reply);
  }
  throw new Error("The list has no end");
}
