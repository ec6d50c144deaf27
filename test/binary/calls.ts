import { checkReply, type Envelope } from "../support/invariants.ts";
import { formatHead, type RawConnection, type RawReply } from "../support/raw-http.ts";

/** A request of a test. */
export interface Call {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  /** An object is sent as JSON. Bytes and texts are sent unchanged. */
  body?: unknown;
}

/** A reply of the API, parsed. */
export interface Answer {
  status: number;
  headers: Headers;
  /** The code of the error; undefined if the call succeeded. */
  code: number | undefined;
  body: Envelope;
}

/** Sends a request on an open connection. Checks the reply with `checkAnswer`, and parses it. */
export async function call(connection: RawConnection, request: Call): Promise<Answer> {
  const method = request.method ?? (request.body === undefined ? "GET" : "POST");
  for (const part of spell(method, request)) connection.write(part);
  const reply = await connection.read(method);
  if (reply === null) throw new Error("The server closed without an answer");
  return checkAnswer(method, reply);
}

/** Checks and parses a reply that was already read from a connection. */
export function checkAnswer(method: string, { status, headers, text }: RawReply): Answer {
  const body = checkReply({ method, status, headers, text }) as Envelope;
  return { status, headers, body, code: body?.error?.code };
}

function spell(method: string, { path, headers = {}, body }: Call): (string | Uint8Array)[] {
  const head = `${method} ${path} HTTP/1.1`;
  if (body === undefined) return [formatHead({ head, headers })];
  const bytes = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  const length = String(Buffer.byteLength(bytes));
  return [
    formatHead({ head, headers: { "content-type": "application/json", "content-length": length, ...headers } }),
    bytes,
  ];
}
