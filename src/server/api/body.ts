import { partyOf, yieldToEventLoop } from "../concurrency/event-loop.ts";
import { withTimeout } from "../concurrency/with-timeout.ts";
import { AppError, bodyTooLarge, malformedRequest, unavailable, unsupportedMediaType } from "../errors.ts";
import { parseExactJson } from "../values/exact-json.ts";
import { formatBytes } from "../values/units.ts";

/** The JSON object in a request's body, or the error of an invalid body, which callers throw after authentication. */
export interface Body {
  value?: Record<string, unknown>;
  error?: AppError;
  release?: () => void;
}

export interface BodyLimits {
  bytes: number;
  ms: number;
}

type Hold = Pick<ReturnType<typeof reserveMemory>, "add">;

export interface BodyMemory {
  left: number;
  held?: Map<string, number>;
}

/**
 * Reserves memory for a body. The first 64 KiB of a JSON body do not count, so that idle connections do not use up the
 * limit.
 * @param store the request's store. Its bodies may use at most half of the memory that other stores do not use.
 */
export function reserveMemory(memory: BodyMemory, store?: string) {
  let own = 0;
  let isReleased = false;
  memory.held ??= new Map();
  const { held } = memory;
  const hold = (bytes: number) => {
    memory.left -= bytes;
    own += bytes;
    if (store !== undefined && !held.set(store, (held.get(store) ?? 0) + bytes).get(store)) held.delete(store);
  };
  return {
    add(bytes: number) {
      const max = store === undefined ? memory.left : memory.left - bytes - (held.get(store) ?? 0);
      // After a timeout, the rest of the body may still arrive. It must not reserve memory that nobody would release.
      if (isReleased || bytes > max) throw unavailable("Too many large bodies are being received.");
      hold(bytes);
    },
    release() {
      hold(-own);
      isReleased = true;
    },
  };
}

const smallBytes = 64 * 1024;
/** Bodies above this size wait in a queue, because parsing and validating them takes longer than most requests. */
const quickBytes = 16 * 1024;
const decoder = new TextDecoder("utf-8", { fatal: true });
const maxDropped = 64 * 1024 * 1024;
/** A body with more chunks than this is refused if they are small on average. */
const maxSmallChunks = 2000;
const smallChunkBytes = 64;
const deepest = 64;
/** A body with more values is refused. The largest valid product has about 8,500. */
const maxValues = 10_000;
const [quote, backslash, comma, openBracket, closeBracket, openBrace, closeBrace] = Buffer.from('"\\,[]{}');
const none: Body = {};
const closing = { headers: { Connection: "close" } };

/**
 * Reads a JSON body. Returns its error instead of throwing it, because a missing credential must be reported before an
 * invalid body.
 */
export async function readBody(
  request: Request,
  limits: BodyLimits,
  memory: BodyMemory,
  allowsText = false,
): Promise<Body> {
  const length = request.headers.get("content-length");
  if (length === "0" || (length === null && !request.headers.has("transfer-encoding"))) return none;
  const unsupported = checkType(request.headers, allowsText);
  const held = reserveMemory(memory);
  try {
    const bytes = await collectInTime(request, limits, held);
    if (bytes.length === 0) return none;
    if (unsupported) return { error: unsupported };
    if (bytes.length <= quickBytes) return parse(bytes);
    // Long bodies have a queue of their own, so that they do not delay the store's short requests.
    const party = `${partyOf(request.url)} body`;
    await yieldToEventLoop(party, request);
    request.signal.throwIfAborted();
    const body = parse(bytes);
    await yieldToEventLoop(party, request);
    return body;
  } catch (error) {
    return { error: asBodyError(error) };
  } finally {
    held.release();
  }
}

export function asBodyError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return malformedRequest("The body could not be read completely.", { cause: error });
}

/** Whether a body is long. A long body must be read at once, because until then Bun buffers all bytes that arrive. */
export const hasLongBody = (headers: Headers): boolean => Number(headers.get("content-length")) > smallBytes;

/**
 * Reads and drops the body of a refused request if the connection closes after the reply. Without this, a client that
 * writes everything before it reads would not get the reply. Returns whether the connection can continue.
 */
export async function dropBody(request: Request, limits: BodyLimits): Promise<boolean> {
  const { method, headers } = request;
  const length = headers.get("content-length");
  // An unread body that is endless or too large could keep the connection busy for long, so the connection is closed.
  const isBusy = length === null ? headers.has("transfer-encoding") : Number(length) > limits.bytes + maxDropped;
  if (!isBusy && !/close/i.test(headers.get("connection") ?? "")) return true;
  // A client that sent `Expect` sends no body after a refusal. Bun gives no access to the body of a GET or HEAD.
  if (method === "GET" || method === "HEAD" || headers.has("expect")) return !isBusy;
  const { error } = await readBody(request, { bytes: 0, ms: limits.ms }, { left: 0 });
  return error?.headers === undefined;
}

function checkType(headers: Headers, allowsText: boolean): AppError | undefined {
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    return unsupportedMediaType("A body with `Content-Encoding` is not accepted.");
  }
  const [type, ...parameters] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  const isKnown = type?.trim() === "application/json" || (allowsText && type?.trim() === "text/plain");
  if (!isKnown) return unsupportedMediaType("The body must be application/json.");
  for (const parameter of parameters) {
    const [name, value] = parameter.split("=");
    if (name?.trim() === "charset" && !/^"?utf-?8"?$/.test(value?.trim() ?? "")) {
      return unsupportedMediaType("The body must be in UTF-8.");
    }
  }
  return undefined;
}

/** Throws bodyTooLarge, or malformedRequest if the body arrives too late or in many small chunks. */
export function collectInTime(request: Request, limits: BodyLimits, held: Hold): Promise<Uint8Array> {
  const length = Number(request.headers.get("content-length") ?? Number.NaN);
  if (length > limits.bytes + maxDropped) throw tooLarge(limits, true);
  // A short body is read in one call, which takes a third of the time of a stream.
  const isShort = length <= smallBytes || !request.body;
  const reading = isShort ? collectAtOnce(request, limits) : collectChunks(request, limits, held);
  return withTimeout(reading, limits.ms, () => malformedRequest("The body did not arrive in time.", closing));
}

async function collectAtOnce(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const bytes = await request.bytes();
  if (bytes.length > limits.bytes) throw tooLarge(limits, false);
  return bytes;
}

/** Reads a long body. A body that is too large is read to its end and dropped, so that the client gets the reply. */
async function collectChunks(request: Request, limits: BodyLimits, held: Hold): Promise<Uint8Array> {
  let chunks: Uint8Array[] = [];
  let size = 0;
  let count = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    // Handling a chunk, even one of a single byte, takes as long as handling a hundred bytes.
    if (++count > maxSmallChunks && size < count * smallChunkBytes) {
      throw malformedRequest("The body comes in too many small chunks.", closing);
    }
    if (size <= limits.bytes) {
      if (size > smallBytes) held.add(chunk.length);
      chunks.push(chunk);
    } else chunks = [];
    if (size > limits.bytes + maxDropped) throw tooLarge(limits, true);
  }
  if (size > limits.bytes) throw tooLarge(limits, false);
  return Buffer.concat(chunks);
}

function parse(bytes: Uint8Array): Body {
  const excess = findExcess(bytes);
  if (excess !== undefined) throw malformedRequest(`The body ${excess}.`);
  let form = "UTF-8";
  let value: unknown;
  try {
    const text = decoder.decode(bytes);
    form = "JSON";
    value = parseExactJson(text);
  } catch (cause) {
    throw malformedRequest(`The body is not valid ${form}.`, { cause });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw malformedRequest("The body must be a JSON object.");
  }
  return { value: value as Record<string, unknown> };
}

function tooLarge(limits: BodyLimits, mustClose: boolean): AppError {
  const message = `The body is larger than ${formatBytes(limits.bytes)}.`;
  // The server would read the rest of the body as the next request, so it closes the connection.
  return bodyTooLarge(message, mustClose ? closing : {});
}

/** Returns which limit the bytes exceed, if any. Parsing a huge value would block all other requests. */
function findExcess(bytes: Uint8Array): string | undefined {
  let depth = 0;
  let values = 1;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === quote) i = endOfText(bytes, i);
    else if (byte === comma) values++;
    else if (byte === openBracket || byte === openBrace) depth++;
    else if (byte === closeBracket || byte === closeBrace) depth--;
    if (values > maxValues) return `contains more than ${maxValues} values`;
    if (depth > deepest) return `is nested deeper than ${deepest} levels`;
  }
  return undefined;
}

function endOfText(bytes: Uint8Array, start: number): number {
  let end = start + 1;
  while (end < bytes.length && bytes[end] !== quote) end += bytes[end] === backslash ? 2 : 1;
  return end;
}
