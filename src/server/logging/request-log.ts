import type { LogLevel } from "../config/server-config.ts";
import { maskSecrets } from "../values/mask-secrets.ts";
import { toTimestamp } from "../values/timestamp.ts";

/** What is known of a request once it is answered. Nothing of its query, headers or body is in it. */
export interface RequestLogEntry {
  at: number;
  level: LogLevel;
  method: string;
  path: string;
  status: number;
  /** The error's code, where there was one. */
  code?: number | undefined;
  ms: number;
  /** Milliseconds until the caller was authenticated; only at the level `debug`. */
  authenticatedMs?: number | undefined;
  requestId: string;
  namespace?: string | undefined;
  /** `app_…` or `usr_…`. */
  caller?: string | undefined;
  /** The caller's address, of failures only. */
  ip?: string | null | undefined;
  /** What went wrong inside, for a 5xx: one line, never sent to the caller. */
  fault?: string | undefined;
}

export type LogRequest = (entry: RequestLogEntry) => void;

/**
 * How loud an answer is: the server's own failures are errors, refusals of credentials, permission and limits are
 * warnings, since they are what somebody who breaks in leaves behind; everything else is information.
 */
export function levelOf(status: number): LogLevel {
  if (status >= 500) return "error";
  return status === 401 || status === 403 || status === 429 ? "warn" : "info";
}

/** One line of the log, in the chosen form. */
export function formatRequest(entry: RequestLogEntry, form: "text" | "json"): string {
  const { level, method, path, status, code, ms, authenticatedMs, requestId, namespace, caller, ip, fault } = entry;
  const time = toTimestamp(entry.at);
  const took = round(ms);
  const authenticated = authenticatedMs === undefined ? undefined : round(authenticatedMs);
  if (form === "json") {
    const request_id = requestId;
    const store = namespace === undefined ? undefined : shorten(namespace);
    const whole = {
      time,
      level,
      method,
      path: shorten(path),
      status,
      code,
      ms: took,
      authenticated_ms: authenticated,
      request_id,
    };
    return `${JSON.stringify({ ...whole, namespace: store, caller, ip, fault })}\n`;
  }
  let line = `${time} ${method} ${visible(path)} ${status} ${took}ms`;
  if (authenticated !== undefined) line += ` authenticated=${authenticated}ms`;
  if (code !== undefined) line += ` code=${code}`;
  if (namespace !== undefined) line += ` namespace=${visible(namespace)}`;
  if (caller !== undefined) line += ` caller=${caller}`;
  if (ip) line += ` ip=${ip}`;
  line += ` request_id=${requestId}`;
  if (fault !== undefined) line += ` fault=${JSON.stringify(fault)}`;
  return `${line}\n`;
}

/** Milliseconds with two decimals. */
function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}

/** Without secrets; and lines of several workers would mix if they were longer than what a pipe takes as a whole. */
function shorten(given: string): string {
  const text = maskSecrets(given);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

const harmless = /^[\x21-\x7e]{0,200}$/;

/** A text that cannot forge a second line or colour a terminal. */
function visible(given: string): string {
  const text = maskSecrets(given);
  if (harmless.test(text)) return text;
  return shorten(text).replace(/[^\x21-\x7e…]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * One line that says what an unexpected error was, for the log: its kind and message, without stack, paths of the
 * source, or SQL.
 */
export function describeFault(error: unknown): string {
  const chain: string[] = [];
  for (let at: unknown = error; at instanceof Error && chain.length < 4; at = at.cause) {
    const code = "code" in at && typeof at.code === "string" ? ` ${at.code}` : "";
    chain.push(`${at.name}${code}: ${firstLine(at.message)}`);
  }
  return chain.length > 0 ? chain.join(" <- ") : "a value that is no error was thrown";
}

function firstLine(message: string): string {
  const line = message.split("\n", 1)[0] ?? "";
  return line.replace(/(?:\/[\w.$@~-]+){2,}/g, "…").slice(0, 300);
}
