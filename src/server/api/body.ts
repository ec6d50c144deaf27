import { AppError, bodyTooLarge, malformedRequest, unavailable, unsupportedMediaType } from "../errors.ts";
import { parseExactJson } from "../values/exact-json.ts";

/** A request's JSON object, or why there is none. Errors are thrown only once the caller has proved who it is. */
export interface Body {
  value?: Record<string, unknown>;
  error?: AppError;
}

/** How much a body may hold, in bytes, and how long it may take to arrive, in milliseconds. */
export interface BodyLimits {
  bytes: number;
  ms: number;
}

/** What all bodies that are being received together may still take, in bytes; one for each process. */
export interface BodyMemory {
  left: number;
}

/**
 * What one body takes of the memory of all. Only what has arrived counts, and only beyond the first 64 KiB: connections
 * that announce much and send nothing, or a crowd of ordinary bodies, keep nobody out.
 */
class HeldMemory {
  readonly #memory: BodyMemory;
  #held = 0;
  #released = false;

  constructor(memory: BodyMemory) {
    this.#memory = memory;
  }

  add(bytes: number): void {
    // A body that was given up may still be arriving.
    if (this.#released || bytes > this.#memory.left) throw unavailable("Too many large bodies are being received.");
    this.#memory.left -= bytes;
    this.#held += bytes;
  }

  release(): void {
    this.#memory.left += this.#held;
    this.#released = true;
  }
}

/** A body up to this size is ordinary, in bytes. */
const smallBytes = 64 * 1024;
const decoder = new TextDecoder("utf-8", { fatal: true });
/** How much of a body that is too large is read and dropped, in bytes. */
const maxDropped = 16 * 1024 * 1024;
/** Levels of arrays and objects in a body. */
const deepest = 64;
/** Values in a body; the largest product has some 8,500. */
const maxValues = 10_000;
const [quote, backslash, comma, openBracket, closeBracket, openBrace, closeBrace] = Buffer.from('"\\,[]{}');
const none: Body = {};

/**
 * Reads a JSON body of bounded size in bounded time. Never throws: what is wrong comes back as `error` (malformedRequest, unsupportedMediaType,
 * bodyTooLarge), so that a bad body does not hide a missing credential.
 */
export async function readBody(request: Request, limits: BodyLimits, memory: BodyMemory): Promise<Body> {
  const length = request.headers.get("content-length");
  if (length === "0" || (length === null && !request.headers.has("transfer-encoding"))) return none;
  if (Number(length) > limits.bytes + maxDropped) return { error: tooLarge(limits, true) };
  const unsupported = checkType(request.headers);
  const held = new HeldMemory(memory);
  try {
    const bytes = await inTime(collect(request, length, limits, held), limits.ms);
    if (bytes.length === 0) return none;
    return unsupported ? { error: unsupported } : parse(bytes);
  } catch (error) {
    if (error instanceof AppError) return { error };
    return { error: malformedRequest("The body could not be read to its end.", { cause: error }) };
  } finally {
    held.release();
  }
}

/** Whether a body that nobody reads could keep its connection busy for long: the answer then has to end it. */
export function isUnbounded(request: Request, limits: BodyLimits): boolean {
  const length = request.headers.get("content-length");
  return length === null ? request.headers.has("transfer-encoding") : Number(length) > limits.bytes + maxDropped;
}

function checkType(headers: Headers): AppError | undefined {
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    return unsupportedMediaType("An encoded body is not accepted; send it without Content-Encoding.");
  }
  const [type, ...parameters] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  if (type?.trim() !== "application/json") return unsupportedMediaType("The body must be application/json.");
  for (const parameter of parameters) {
    const [name, value] = parameter.split("=");
    if (name?.trim() === "charset" && !/^"?utf-?8"?$/.test(value?.trim() ?? "")) {
      return unsupportedMediaType("The body must be in UTF-8.");
    }
  }
  return undefined;
}

/**
 * The bytes of a body. One that is too large is read to its end all the same, within reason, and dropped: a client that
 * writes everything before it reads would otherwise meet a broken connection instead of the answer.
 */
async function collect(
  request: Request,
  length: string | null,
  limits: BodyLimits,
  held: HeldMemory,
): Promise<Uint8Array> {
  if (!request.body || (length !== null && Number(length) <= Math.min(smallBytes, limits.bytes)))
    return request.bytes();
  let chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size <= limits.bytes) {
      if (size > smallBytes) held.add(chunk.length);
      chunks.push(chunk);
    } else chunks = [];
    if (size > limits.bytes + maxDropped) throw tooLarge(limits, true);
  }
  if (size > limits.bytes) throw tooLarge(limits, false);
  return Buffer.concat(chunks);
}

function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(malformedRequest("The body did not arrive in time.", { headers: { Connection: "close" } })),
      ms,
    );
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function parse(bytes: Uint8Array): Body {
  const excess = findExcess(bytes);
  if (excess !== undefined) return { error: malformedRequest(`The body ${excess}.`) };
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (cause) {
    return { error: malformedRequest("The body is not valid UTF-8.", { cause }) };
  }
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch (cause) {
    return { error: malformedRequest("The body is not valid JSON.", { cause }) };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { error: malformedRequest("The body must be a JSON object.") };
  }
  return { value: value as Record<string, unknown> };
}

function tooLarge(limits: BodyLimits, mustClose: boolean): AppError {
  const message = `The body is larger than ${limits.bytes} bytes.`;
  // What is not read would be taken for the next request, so the connection ends with the answer.
  return bodyTooLarge(message, mustClose ? { headers: { Connection: "close" } } : {});
}

/**
 * Looks a body over before it is parsed: what nothing here could need would cost much to build, and everybody waits.
 * @returns what is too much about it, or undefined.
 */
function findExcess(bytes: Uint8Array): string | undefined {
  let depth = 0;
  let values = 1;
  let inText = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (inText) {
      if (byte === backslash) i++;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    else if (byte === comma) {
      if (++values > maxValues) return `holds more than ${maxValues} values`;
    } else if (byte === openBracket || byte === openBrace) {
      if (++depth > deepest) return `is nested deeper than ${deepest} levels`;
    } else if (byte === closeBracket || byte === closeBrace) depth--;
  }
  return undefined;
}
