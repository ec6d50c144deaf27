import { AppError } from "../errors.ts";
import { parseExactJson } from "./exact-json.ts";

/** A request's JSON object, or why there is none. Errors are thrown only once the caller has proved who it is. */
export type Body = { value: Record<string, unknown> | undefined } | { error: AppError };

/** How much a body may hold, in bytes, and how long it may take to arrive, in milliseconds. */
export interface BodyLimits {
  bytes: number;
  ms: number;
}

const decoder = new TextDecoder("utf-8", { fatal: true });
const none: Body = { value: undefined };

/**
 * Reads a JSON body of bounded size in bounded time. Never throws: what is wrong comes back as `error` (5100, 5103,
 * 5104), so that a bad body does not hide a missing credential.
 */
export async function readBody(request: Request, limits: BodyLimits): Promise<Body> {
  const length = request.headers.get("content-length");
  if (length === "0" || (length === null && !request.headers.has("transfer-encoding"))) return none;
  // What is not read would be taken for the next request, so the connection ends with the answer.
  if (Number(length) > limits.bytes) return { error: tooLarge(limits) };
  const unsupported = checkType(request.headers);
  try {
    const bytes = await inTime(collect(request, length, limits), limits.ms);
    if (bytes.length === 0) return none;
    return unsupported ? { error: unsupported } : parse(bytes);
  } catch (error) {
    if (error instanceof AppError) return { error };
    return { error: new AppError(5100, "The body could not be read to its end.", { cause: error }) };
  }
}

function checkType(headers: Headers): AppError | undefined {
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    return new AppError(5103, "An encoded body is not accepted; send it without Content-Encoding.");
  }
  const [type, ...parameters] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  if (type?.trim() !== "application/json") return new AppError(5103, "The body must be application/json.");
  for (const parameter of parameters) {
    const [name, value] = parameter.split("=");
    if (name?.trim() === "charset" && !/^"?utf-?8"?$/.test(value?.trim() ?? "")) {
      return new AppError(5103, "The body must be in UTF-8.");
    }
  }
  return undefined;
}

async function collect(request: Request, length: string | null, limits: BodyLimits): Promise<Uint8Array> {
  if (length !== null || !request.body) return request.bytes();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > limits.bytes) throw tooLarge(limits);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new AppError(5100, "The body did not arrive in time.", { headers: { Connection: "close" } })),
      ms,
    );
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function parse(bytes: Uint8Array): Body {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (cause) {
    return { error: new AppError(5100, "The body is not valid UTF-8.", { cause }) };
  }
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch (cause) {
    return { error: new AppError(5100, "The body is not valid JSON.", { cause }) };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { error: new AppError(5100, "The body must be a JSON object.") };
  }
  return { value: value as Record<string, unknown> };
}

function tooLarge(limits: BodyLimits): AppError {
  return new AppError(5104, `The body is larger than ${limits.bytes} bytes.`, { headers: { Connection: "close" } });
}
