import { AppError, internalError, meaningOf, remedyOf, statusOf, typeOf } from "../errors.ts";
import type { Reply } from "./route.ts";

/** Headers of every reply (specification, section 2). */
export function baseHeaders(requestId: string): Record<string, string> {
  return {
    "Content-Type": "application/json; charset=utf-8",
    "X-Request-Id": requestId,
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
  };
}

/** Returns the text of the reply, and adds the headers that describe it to `headers`. */
export function successText(requestId: string, answer: Reply, headers: Record<string, string>): string {
  if (answer.version !== undefined) headers.ETag ??= `"${answer.version}"`;
  if (answer.language !== undefined) headers["Content-Language"] = answer.language;
  if (answer.isReplay) headers["Idempotency-Replayed"] = "true";
  const page = answer.page ? `,"page":${JSON.stringify(answer.page)}` : "";
  // A request id needs no escaping, because it has only safe characters.
  return `{"request_id":"${requestId}","data":${answer.json}${page}}`;
}

const streamed = { from: 15_000, to: 65_536 };

/**
 * Returns bodies of medium size as streams, which is faster. Bun 1.4.5 writes each word of the head with a system call
 * of its own if a reply of 16 KB or more is not ready in the event loop's turn of its request. For a stream, it makes
 * one call.
 */
export function bodyOf<Body extends string | Uint8Array<ArrayBuffer>>(text: Body): Body | ReadableStream {
  if (text.length < streamed.from || text.length > streamed.to) return text;
  return new ReadableStream({
    type: "direct",
    pull(controller) {
      controller.write(text);
      controller.end();
    },
  });
}

export function successResponse(requestId: string, answer: Reply, status: number, headers: Record<string, string>) {
  if (answer.file) return fileResponse(answer.file, headers);
  return new Response(bodyOf(successText(requestId, answer, headers)), { status, headers });
}

/** Returns a reply that any origin may load, so that caches need only one copy for all origins. */
function fileResponse({ bytes, type }: NonNullable<Reply["file"]>, headers: Record<string, string>): Response {
  headers["Content-Type"] = type;
  headers["Cache-Control"] = "public, max-age=31536000, immutable";
  headers["Access-Control-Allow-Origin"] = "*";
  headers["Cross-Origin-Resource-Policy"] = "cross-origin";
  delete headers.Vary;
  return new Response(bytes as Uint8Array<ArrayBuffer>, { headers });
}

/** Returns the reply to a failed request. Errors that are no AppError become internalError, without their message. */
export function errorResponse(requestId: string, error: unknown, headers: Record<string, string>): Response {
  const known = error instanceof AppError ? error : internalError();
  const { kind, code, details, isInternal } = known;
  const message = isInternal ? (known.reply ?? meaningOf(kind)) : known.message;
  const remedy = (isInternal ? undefined : known.remedy) ?? remedyOf(kind);
  const body = {
    request_id: requestId,
    error: { code, type: typeOf(kind), message, ...(remedy && { remedy }), ...(details && { details }) },
  };
  if (known.retryAfter !== undefined) headers["Retry-After"] = String(known.retryAfter);
  Object.assign(headers, known.headers);
  return new Response(JSON.stringify(body), { status: statusOf(kind), headers });
}
