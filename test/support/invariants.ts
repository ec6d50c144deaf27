import { expect } from "bun:test";
import { join } from "node:path";
import type { Page } from "../../src/server/pagination/list-page.ts";

/** Matches app secrets, user tokens, and the secrets of registrations and visitors, even invalid ones. */
export const secretForm = /(?:sk_|v2\.|rsec_|vis_[0-9a-z]{26}-)[A-Za-z0-9_-]{20,}/;

const repository = join(import.meta.dir, "..", "..");
/** Patterns of internals of the program, which no reply may contain. */
const internals = [
  /\n\s+at \S/,
  /\.ts:\d+/,
  /node_modules|\/src\/|\$bunfs/,
  /SQLITE_|constraint failed|no such (?:table|column)/i,
  /\b(?:select .+ from|insert into|update .+ set|delete from)\b/i,
  /TypeError|ReferenceError|SyntaxError|LibsqlError|SqliteError|DrizzleError/,
];

/** The parts of a reply that this module checks. */
export interface ReplyShape {
  method: string;
  status: number;
  headers: Headers;
  text: string;
}

/**
 * Checks the guarantees for every reply of the API: content type, request id, envelope, no internals. Returns the body,
 * or undefined for HEAD.
 */
export function checkReply({ method, status, headers, text }: ReplyShape): Envelope | undefined {
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  // Reads of the catalogue have a weak ETag, with which browsers ask whether the reply has changed.
  const isKept = headers.get("etag")?.startsWith("W/");
  expect(headers.get("cache-control")).toBe(isKept ? "private, no-cache" : "no-store");
  const requestId = headers.get("x-request-id");
  expect(requestId).toMatch(/^[A-Za-z0-9._-]{8,128}$/);
  // Only replies to sign-ins contain a token. Replies to registrations and new visitors contain a secret of their own.
  // No reply contains an app secret.
  const own = /"(?:token":"v2\.|management_secret":"rsec_|visitor":"vis_[0-9a-z]{26}-[0-9a-f]{21})[\w-]{43}"/;
  checkDiscretion(status < 400 ? text.replace(own, "") : text);
  if (status === 429) expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  if (status === 405) expect(headers.get("allow")).toContain("OPTIONS");
  if (method === "HEAD" || status === 304) {
    expect(text).toBe("");
    return undefined;
  }
  const body = JSON.parse(text) as Envelope;
  expect(body.request_id).toBe(requestId as string);
  const { request_id: _, ...rest } = body;
  if (status < 400) {
    expect(rest).toContainKey("data");
    expect(["data", "page"]).toContainValues(Object.keys(rest).toSorted());
  } else {
    expect(Object.keys(rest)).toEqual(["error"]);
    checkError(body.error);
  }
  return body;
}

/** Checks the guarantees for every file that the API serves: browsers cache it, and do not guess its type. */
export function checkFile(headers: Headers): undefined {
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(headers.get("access-control-allow-origin")).toBe("*");
  expect(headers.get("vary")).toBeNull();
  expect(headers.get("x-request-id")).toMatch(/^[A-Za-z0-9._-]{8,128}$/);
}

/** Checks that a text for clients contains no stack, SQL, path or secret. */
export function checkDiscretion(text: string): void {
  expect(text).not.toContain(repository);
  for (const pattern of internals) expect(text).not.toMatch(pattern);
  expect(text).not.toMatch(secretForm);
}

function checkError(error: ErrorReply | undefined): void {
  const { code, type, message, remedy, details, ...others } = error as ErrorReply;
  expect(others).toEqual({});
  expect(code).toBeInteger();
  expect(type).toMatch(/^[a-z]+(_[a-z]+)*$/);
  expect(message).toMatch(/\S/);
  if (remedy !== undefined) expect(remedy).toMatch(/\S/);
  for (const detail of details ?? []) {
    // A conflict may contain the id of the other record.
    expect(Object.keys(detail).filter((name) => name !== "id" || code !== 5302)).toEqual(["field", "message"]);
    expect(detail.message).toMatch(/\S/);
  }
}

/** The envelope of every reply. */
export interface Envelope {
  request_id: string;
  data?: unknown;
  page?: Partial<Page> & { next_cursor: string | null; has_more: boolean; limit: number };
  error?: ErrorReply;
}

interface ErrorReply {
  code: number;
  type: string;
  message: string;
  remedy?: string;
  details?: { field: string; message: string; id?: string }[];
}
