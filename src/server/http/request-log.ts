import { toTimestamp } from "../clock.ts";
import { maskSecrets } from "./mask.ts";

/** What is known of a request once it is answered. Nothing of its query, headers or body is in it. */
export interface RequestLogEntry {
  at: number;
  method: string;
  path: string;
  status: number;
  /** The error's code, where there was one. */
  code?: number | undefined;
  ms: number;
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

/** One line of the log, in the chosen form. */
export function formatRequest(entry: RequestLogEntry, form: "text" | "json"): string {
  const { method, path, status, code, ms, requestId, namespace, caller, ip, fault } = entry;
  const time = toTimestamp(entry.at);
  const took = Math.round(ms * 100) / 100;
  if (form === "json") {
    const level = status >= 500 ? "error" : "info";
    const request_id = requestId;
    const store = namespace === undefined ? undefined : shorten(namespace);
    const whole = { time, level, method, path: shorten(path), status, code, ms: took, request_id, namespace: store };
    return `${JSON.stringify({ ...whole, caller, ip, fault })}\n`;
  }
  let line = `${time} ${method} ${visible(path)} ${status} ${took}ms`;
  if (code !== undefined) line += ` code=${code}`;
  if (namespace !== undefined) line += ` namespace=${visible(namespace)}`;
  if (caller !== undefined) line += ` caller=${caller}`;
  if (ip) line += ` ip=${ip}`;
  line += ` request_id=${requestId}`;
  if (fault !== undefined) line += ` fault=${JSON.stringify(fault)}`;
  return `${line}\n`;
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
