import { checkReply, type Envelope } from "../support/invariants.ts";
import { formatHead, type RawConnection, type RawReply } from "../support/raw-http.ts";

/** A request of a test, in short form. */
export interface Call {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  /** Sent as JSON; bytes and texts are sent unchanged. */
  body?: unknown;
}

/** A reply in the common form. */
export interface Answer {
  status: number;
  headers: Headers;
  /** The error's code; undefined for a success. */
  code: number | undefined;
  body: Envelope;
}

/** Sends a request on an open connection and checks the common form of its reply. */
export async function call(connection: RawConnection, request: Call): Promise<Answer> {
  const method = request.method ?? (request.body === undefined ? "GET" : "POST");
  for (const part of spell(method, request)) connection.write(part);
  const reply = await connection.read(method);
  if (reply === null) throw new Error("The server closed without an answer");
  return checkAnswer(method, reply);
}

/** Checks a reply that has been read already. */
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
