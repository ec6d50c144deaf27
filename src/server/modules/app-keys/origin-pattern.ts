import { invalidField } from "../../errors.ts";

/** An entry of a key's allowlist, taken apart. A part that is null fits anything. */
export interface OriginPattern {
  /** As stored and shown. */
  text: string;
  scheme: "http" | "https" | null;
  /** Lower-case; without the `*.` of a wildcard. */
  host: string;
  wildcard: boolean;
  port: string | null;
}

const form = /^(?:(https?):\/\/)?(\*\.)?([^\s/:?#@*[\]]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i;

/**
 * Reads an allowlist entry: `shop.example.com`, `*.example.com` (any depth below, not the apex), each optionally with
 * a scheme or a port. Names in other scripts become punycode, as browsers send them (specification, 5).
 * @throws validationFailed naming `origins`.
 */
export function parseOriginPattern(entry: string): OriginPattern {
  const match = form.exec(entry.trim());
  const refuse = () =>
    invalidField("origins", `${JSON.stringify(entry)} is neither a host such as shop.example.com nor *.example.com`);
  if (!match) throw refuse();
  const [, scheme = null, star, name = "", port = null] = match;
  const probe = `http://${name}`;
  if (!URL.canParse(probe) || Number(port ?? 0) > 65535) throw refuse();
  const host = new URL(probe).hostname;
  // A comma or the word `null` would only ever be a slip: no browser sends such a host.
  const isHost = host !== "null" && /^(?:[\w.-]+|\[.+\])$/.test(host);
  if (!isHost || (star && !host.includes("."))) throw refuse();
  const fixedScheme = scheme ? (scheme.toLowerCase() as "http" | "https") : null;
  const fixedPort = port === null ? null : String(Number(port));
  const prefix = fixedScheme ? `${fixedScheme}://` : "";
  const text = `${prefix}${star ?? ""}${host}${fixedPort === null ? "" : `:${fixedPort}`}`;
  return { text, scheme: fixedScheme, host, wildcard: star !== undefined, port: fixedPort };
}

// Only what a browser sends: a parser of addresses would also forgive tabs, missing slashes and user names.
const originForm = /^https?:\/\/(?!\.)[^\s/?#@\\%]+$/i;

/** The origin of a request, taken apart; null for `null` and for whatever is not an http(s) origin. */
export function parseOrigin(origin: string): { scheme: string; host: string; port: string } | null {
  if (!originForm.test(origin) || !URL.canParse(origin)) return null;
  const url = new URL(origin);
  return { scheme: url.protocol.slice(0, -1), host: url.hostname, port: url.port };
}

const defaultPort = { http: "80", https: "443" } as Record<string, string>;

/** The first entry that an origin fits, or null. A default port and no port are the same. */
export function matchOrigin(patterns: readonly OriginPattern[], origin: string): OriginPattern | null {
  const parsed = parseOrigin(origin);
  if (!parsed) return null;
  const port = parsed.port || defaultPort[parsed.scheme];
  return (
    patterns.find(
      (pattern) =>
        (pattern.scheme === null || pattern.scheme === parsed.scheme) &&
        (pattern.port === null ? true : pattern.port === port) &&
        (pattern.wildcard ? parsed.host.endsWith(`.${pattern.host}`) : parsed.host === pattern.host),
    ) ?? null
  );
}
