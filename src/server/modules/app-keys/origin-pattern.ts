import { invalidField } from "../../errors.ts";

/** A parsed entry of a key's allowlist. A `scheme` or `port` of null matches every scheme or port. */
export interface OriginPattern {
  text: string;
  scheme: "http" | "https" | null;
  host: string;
  wildcard: boolean;
  port: string | null;
}

/** Maximum length of an origin. Real ones are shorter, and converting a longer name to punycode would take too long. */
const maxLength = 300;
const form = /^(?:(https?):\/\/)?(\*\.)?([^\s/:?#@*[\]]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i;

/**
 * Parses a host such as `shop.example.com`, or `*.example.com` (all subdomains, but not `example.com`). A scheme and a
 * port are optional. Names in other scripts become punycode (specification, section 5). Errors: validationFailed.
 */
export function parseOriginPattern(entry: string): OriginPattern {
  // An address that was copied from a browser may end with a slash, which is ignored.
  const match = entry.length <= maxLength ? form.exec(entry.trim().replace(/\/$/, "")) : null;
  const refuse = () =>
    invalidField("origins", `${JSON.stringify(entry)} is not a host such as shop.example.com or *.example.com`);
  if (!match) throw refuse();
  const [, scheme = null, star, name = "", port = null] = match;
  const probe = `http://${name}`;
  if (!URL.canParse(probe) || Number(port ?? 0) > 65535) throw refuse();
  const host = new URL(probe).hostname;
  // A host that contains a comma, or is the word `null`, is a mistake, because no browser sends it.
  const isHost = host !== "null" && /^(?:[\w.-]+|\[.+\])$/.test(host);
  if (!isHost || (star && !host.includes("."))) throw refuse();
  const fixedScheme = scheme ? (scheme.toLowerCase() as "http" | "https") : null;
  const fixedPort = port === null ? null : String(Number(port));
  const prefix = fixedScheme ? `${fixedScheme}://` : "";
  const text = `${prefix}${star ?? ""}${host}${fixedPort === null ? "" : `:${fixedPort}`}`;
  return { text, scheme: fixedScheme, host, wildcard: star !== undefined, port: fixedPort };
}

// Accepts only the form that browsers send, because a URL parser also accepts tabs, missing slashes and user names.
const originForm = /^https?:\/\/(?!\.)[^\s/?#@\\%]+$/i;

export function parseOrigin(origin: string): { scheme: string; host: string; port: string } | null {
  if (origin.length > maxLength || !originForm.test(origin) || !URL.canParse(origin)) return null;
  const url = new URL(origin);
  return { scheme: url.protocol.slice(0, -1), host: url.hostname, port: url.port };
}

const defaultPort = { http: "80", https: "443" } as Record<string, string>;

export function matchOrigin(patterns: readonly OriginPattern[], origin: string): OriginPattern | null {
  const parsed = parseOrigin(origin);
  if (!parsed) return null;
  const port = parsed.port || defaultPort[parsed.scheme];
  const fits = ({ scheme, host, port: own, wildcard }: OriginPattern) =>
    (scheme ?? parsed.scheme) === parsed.scheme &&
    (own ?? port) === port &&
    (wildcard ? parsed.host.endsWith(`.${host}`) : parsed.host === host);
  return patterns.find(fits) ?? null;
}
