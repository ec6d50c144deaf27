/** A request of the client to `/v2/pipeline`. */
interface Pipeline {
  /** Without one, the server opens a stream. */
  baton?: string | null;
  requests: { type: string; sql_id?: number }[];
}

/** The answer to it. */
interface Answer {
  baton: string | null;
  results: { type: string; response?: { result?: { step_errors?: unknown[] } } }[];
}

/** More than a test has in flight, and fewer than a server allows. */
const maxIdle = 16;

/** The batons of open streams without a user, by the address of the server's pipeline. */
const servers = new Map<string, string[]>();
/** The ids of the texts that were stored on a stream in use, by its next baton. */
const storedIds = new Map<string, number[]>();
const direct = globalThis.fetch;

/**
 * Keeps streams to a libSQL server open when the client closes them, for the next ones that it opens: the server reads
 * the whole schema for each new stream, which takes several times as long as most statements. Ends with the returned
 * function.
 */
export function keepStreams(url: string): () => void {
  const address = `${url}/v2/pipeline`;
  servers.set(address, []);
  globalThis.fetch = Object.assign(sendOnKept, direct);
  return () => servers.delete(address);
}

async function sendOnKept(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const idle = input instanceof Request ? servers.get(input.url) : undefined;
  if (!(input instanceof Request) || idle === undefined) return direct(input, init);
  const pipeline = (await input.json()) as Pipeline;
  const { url, headers } = input;
  const send = (body: Pipeline) => direct(url, { ...init, method: "POST", headers, body: JSON.stringify(body) });

  const reused = pipeline.baton ? undefined : idle.pop();
  const ids = storedIds.get(pipeline.baton ?? "") ?? [];
  storedIds.delete(pipeline.baton ?? "");
  for (const { type, sql_id } of pipeline.requests) if (type === "store_sql") ids.push(sql_id as number);
  const calls = pipeline.requests.filter(({ type }) => type !== "close");
  const isLast = calls.length < pipeline.requests.length;
  const isKept = isLast && calls.length > 0 && idle.length < maxIdle;
  // A close rolls an open transaction back. Without one, this is refused, and changes nothing.
  const rollback = { type: "execute", stmt: { sql: "ROLLBACK" } };
  const forget = isKept ? [rollback, ...ids.map((sql_id) => ({ type: "close_sql", sql_id }))] : [];
  const requests = isKept ? [...calls, ...forget] : pipeline.requests;

  let reply = await send({ ...pipeline, ...(reused && { baton: reused }), requests });
  // The server has closed it in the meantime.
  if (reused !== undefined && reply.status === 400) reply = await send({ requests });
  if (!reply.ok) return reply;
  const answer = (await reply.json()) as Answer;
  if (!isKept) {
    if (answer.baton !== null) storedIds.set(answer.baton, ids);
    return Response.json(answer);
  }
  if (answer.baton !== null) {
    if (answer.results.toSpliced(calls.length, 1).every(hasSucceeded)) idle.push(answer.baton);
    else await send({ baton: answer.baton, requests: [{ type: "close" }] });
  }
  const results = [...answer.results.slice(0, calls.length), { type: "ok", response: { type: "close" } }];
  return Response.json({ ...answer, baton: null, results });
}

function hasSucceeded({ type, response }: Answer["results"][number]): boolean {
  return type === "ok" && (response?.result?.step_errors ?? []).every((error) => error === null);
}
