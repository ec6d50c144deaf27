import type { TestApp } from "./app.ts";
import { peerHeader } from "./app.ts";
import { checkFile, checkReply, type Envelope } from "./invariants.ts";

/** The parts of a call, except method and path. */
export interface CallOptions {
  /** Query parameters after `namespace`. A text is sent unchanged. */
  query?: Record<string, string | number> | string;
  /** The body, which is sent as JSON. */
  body?: unknown;
  /** A body that is sent unchanged, instead of `body`. */
  raw?: string | Uint8Array<ArrayBuffer> | ReadableStream;
  /** Headers to add or replace. Null removes a header, even a default one. */
  headers?: Record<string, string | null>;
  /** The namespace in the query. Null: none. */
  namespace?: string | null;
  /** The `Authorization` header. Null: none. */
  auth?: string | null;
  /** The address of the client. */
  address?: string;
}

/** A reply that has passed all common checks. */
export interface ApiReply<T = Record<string, unknown>> {
  status: number;
  headers: Headers;
  text: string;
  requestId: string;
  /** The code of the error; undefined for a success. */
  code: number | undefined;
  error: Envelope["error"];
  /** The names of the fields in the error's `details`. */
  fields: string[];
  data: T;
  page: NonNullable<Envelope["page"]>;
}

/** Sends a request such as `"GET /products/"`. */
export type Call = <T = Record<string, unknown>>(request: string, options?: CallOptions) => Promise<ApiReply<T>>;

/** The properties of a server that a client needs: its URL and its API description. */
export type DescribedServer = Pick<TestApp, "url" | "description">;

let addresses = 0;

/** Returns an address that is unique in this run. */
export function newAddress(): string {
  addresses += 1;
  return `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

/**
 * Creates a client with defaults for its calls. Each call has a new IP address by default. Every reply is checked
 * against the envelope and the API description.
 */
export function createClient(
  app: DescribedServer,
  usual: { namespace?: string; auth?: string; address?: string } = {},
): Call {
  return async <T>(request: string, options: CallOptions = {}) => {
    const [method = "", path = ""] = request.split(" ");
    const namespace = options.namespace === undefined ? usual.namespace : options.namespace;
    const search = searchOf(namespace ?? undefined, options.query);
    const init = { method, headers: headersOf(options, usual.auth, usual.address ?? newAddress()), ...bodyOf(options) };
    const response = await fetch(`${app.url}${path}${search === "" ? "" : `?${search}`}`, init);
    const { status, headers } = response;
    const text = await response.text();
    const isFile = status < 400 && headers.get("content-type")?.startsWith("image/");
    const body = isFile ? checkFile(headers) : checkReply({ method, status, headers, text });
    await checkDescription(app, method, path, status, search, body, options.body);
    return {
      status,
      headers,
      text,
      requestId: headers.get("x-request-id") as string,
      code: body?.error?.code,
      error: body?.error,
      fields: (body?.error?.details ?? []).map(({ field }) => field),
      data: body?.data as T,
      page: body?.page as NonNullable<Envelope["page"]>,
    };
  };
}

function searchOf(namespace: string | undefined, query: CallOptions["query"]): string {
  const parts = namespace === undefined ? [] : [`namespace=${encodeURIComponent(namespace)}`];
  if (typeof query === "string") parts.push(query);
  else {
    for (const [name, value] of Object.entries(query ?? {})) {
      parts.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    }
  }
  return parts.join("&");
}

function headersOf({ auth, headers = {}, address: given, ...options }: CallOptions, usual = "", address: string) {
  const all: Record<string, string | null> = {
    [peerHeader]: given ?? address,
    authorization: auth === undefined ? usual || null : auth,
    "content-type": options.body === undefined && options.raw === undefined ? null : "application/json",
    ...headers,
  };
  return Object.fromEntries(Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== null));
}

function bodyOf({ body, raw }: CallOptions): { body?: NonNullable<CallOptions["raw"]> } {
  if (raw !== undefined) return { body: raw };
  return body === undefined ? {} : { body: JSON.stringify(body) };
}

async function checkDescription(
  app: DescribedServer,
  method: string,
  path: string,
  status: number,
  search: string,
  reply: unknown,
  sent: unknown,
): Promise<void> {
  const description = await app.description();
  const query = new URLSearchParams(search);
  description.checkReply(method, path, status, reply, query.has("fields"));
  if (status < 400) description.checkRequest(method, path, query.keys(), sent);
}
