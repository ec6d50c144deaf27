import type { LogLevel } from "../config/server-config.ts";
import { maskSecrets } from "../values/mask-secrets.ts";
import { toTimestamp } from "../values/stamps.ts";

/** A request in the log. It contains no query, no body and no headers except `Origin`. */
export interface RequestLogEntry {
  at: number;
  level: LogLevel;
  method: string;
  path: string;
  status: number;
  code?: number | undefined;
  ms: number;
  request_id: string;
  namespace?: string | undefined;
  caller?: string | undefined;
  ip?: string | null | undefined;
  origin?: string | undefined;
  /** The cause of a 5xx in one line. Replies do not contain it. */
  fault?: string | undefined;
}

/** Refused credentials and exceeded limits are warnings, because they may be signs of an attack. */
export function levelOf(status: number): LogLevel {
  if (status >= 500) return "error";
  return status === 401 || status === 403 || status === 429 ? "warn" : "info";
}

export function formatRequest(entry: RequestLogEntry, form: "text" | "json"): string {
  const { method, path, status, code, request_id, namespace, caller, ip, origin, fault } = entry;
  const time = toTimestamp(entry.at);
  const ms = Math.round(entry.ms * 100) / 100;
  if (form === "json") {
    const { at: _, ...rest } = entry;
    const sent = { namespace: namespace && shorten(namespace), origin: origin && shorten(origin) };
    const whole = { time, ...rest, path: shorten(path), ms, ...sent };
    return `${JSON.stringify(whole)}\n`;
  }
  let line = `${time} ${method} ${visible(path)} ${status} ${ms}ms`;
  if (code !== undefined) line += ` code=${code}`;
  if (namespace !== undefined) line += ` namespace=${visible(namespace)}`;
  if (caller !== undefined) line += ` caller=${caller}`;
  if (ip) line += ` ip=${ip}`;
  if (origin) line += ` origin=${visible(origin)}`;
  line += ` request_id=${request_id}`;
  if (fault !== undefined) line += ` fault=${JSON.stringify(fault)}`;
  return `${line}\n`;
}

/** Masks secrets. Shortens the text, because long lines of several workers would mix. */
function shorten(given: string): string {
  const text = maskSecrets(given);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** Escapes characters that could begin a forged line or colour a terminal. */
function visible(text: string): string {
  return shorten(text).replace(/[^\x21-\x7e…]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Describes an unexpected error and its causes in one line, without stack, source paths or SQL. */
export function describeFault(error: unknown): string {
  const chain: string[] = [];
  for (let at: unknown = error; at instanceof Error && chain.length < 4; at = at.cause) {
    const code = "code" in at && typeof at.code === "string" ? ` ${at.code}` : "";
    const line = at.message.split("\n", 1)[0] ?? "";
    chain.push(`${at.name}${code}: ${line.replace(/(?:\/[\w.$@~-]+){2,}/g, "…").slice(0, 300)}`);
  }
  return chain.length > 0 ? chain.join(" <- ") : "a value that is not an error was thrown";
}
