import type { LogLevel } from "../config/server-config.ts";
import { maskSecrets } from "../values/mask-secrets.ts";
import { toTimestamp } from "../values/stamps.ts";

/** Contains nothing of the query, body or headers, except `Origin`. */
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
  /** The cause of a 5xx in one line, which callers do not get. */
  fault?: string | undefined;
}

/** Refused credentials, permissions and limits are warnings, because they may come from an attack. */
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

/** Masks secrets, and shortens texts, because long lines of several workers would mix. */
function shorten(given: string): string {
  const text = maskSecrets(given);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

const harmless = /^[\x21-\x7e]{0,200}$/;

/** Escapes characters that could forge a second line or colour a terminal. */
function visible(given: string): string {
  const text = maskSecrets(given);
  if (harmless.test(text)) return text;
  return shorten(text).replace(/[^\x21-\x7e…]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Describes an unexpected error in one line, without stack, source paths or SQL. */
export function describeFault(error: unknown): string {
  const chain: string[] = [];
  for (let at: unknown = error; at instanceof Error && chain.length < 4; at = at.cause) {
    const code = "code" in at && typeof at.code === "string" ? ` ${at.code}` : "";
    const line = at.message.split("\n", 1)[0] ?? "";
    chain.push(`${at.name}${code}: ${line.replace(/(?:\/[\w.$@~-]+){2,}/g, "…").slice(0, 300)}`);
  }
  return chain.length > 0 ? chain.join(" <- ") : "a value that is not an error was thrown";
}
