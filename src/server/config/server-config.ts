import { resolve } from "node:path";
import ipaddr from "ipaddr.js";
import { readAcmeConfig } from "./acme-config.ts";
import {
  duration,
  integer,
  invalidOption,
  matching,
  type Option,
  type Options,
  oneOf,
  onOrOff,
  parseUrl,
} from "./environment.ts";

export const logLevels = ["debug", "info", "warn", "error"] as const;

export type LogLevel = (typeof logLevels)[number];

export interface TlsFiles {
  cert: string;
  key: string;
}

const day = 86_400_000;
const addressesHint = "from 1d to 3650d, such as 90d";

const tokenHint = "must have at least 16 characters, all visible ASCII";

export function readServerConfig(options: Options) {
  const { get } = options;
  const acme = readAcmeConfig(options);
  const given = tlsFiles(get("BODEGA_TLS_CERT", "tls-cert"), get("BODEGA_TLS_KEY", "tls-key"));
  if (acme && given) throw invalidOption(get("BODEGA_ACME", "acme").source, "cannot be combined with --tls-cert");
  const host = matching(get("BODEGA_HOST", "host"), /^[\w.:%[\]-]+$/, "must be an IP address or a host name");
  const port = integer(get("BODEGA_PORT", "port"), 0, 65535) ?? (acme ? 443 : 8080);
  return {
    // A certificate authority connects from outside, so with ACME the default is all IPv4 addresses.
    host: host ?? (acme ? "0.0.0.0" : "127.0.0.1"),
    port,
    acme,
    workers: integer(get("BODEGA_WORKERS", "workers"), 1, 64) ?? 1,
    /** The maximum memory for kept replies, in MiB. */
    replyCache: integer(get("BODEGA_REPLY_CACHE", "reply-cache"), 0, 65_536) ?? 32,
    publicUrl: publicUrl(get("BODEGA_PUBLIC_URL", "public-url")) ?? (acme && urlOf(acme.names[0], port)),
    trustedProxies: proxies(get("BODEGA_TRUSTED_PROXY", "trusted-proxy")),
    log: oneOf(get("BODEGA_LOG", "log"), ["text", "json"]) ?? "text",
    logLevel: oneOf(get("BODEGA_LOG_LEVEL", "log-level"), logLevels) ?? "info",
    tls: acme ? { cert: acme.file, key: acme.file } : given,
    noDocs: onOrOff(get("BODEGA_NO_DOCS", "no-docs")),
    backOffice: onOrOff(get("BODEGA_BACK_OFFICE", "back-office")),
    metricsToken: matching(get("BODEGA_METRICS_TOKEN"), /^[\x21-\x7e]{16,}$/, tokenHint),
    auditAddressesMs:
      duration(get("BODEGA_AUDIT_ADDRESSES", "audit-addresses"), day, 3650 * day, addressesHint) ?? 365 * day,
    /** Whether this process is a worker. The program sets it; no flag or variable does. */
    isWorker: false,
  };
}

const urlOf = (name: string, port: number) => new URL(`https://${name}:${port}`).origin;

function publicUrl({ value, source }: Option): string | undefined {
  if (value === undefined) return undefined;
  const url = parseUrl(value, ["http:", "https:"]);
  if (!url) throw invalidOption(source, "must be an http or https URL");
  // The URL is published, so it must not contain credentials. Paths are appended, so it must not have a query.
  if (url.username !== "" || url.password !== "") throw invalidOption(source, "must not contain a user or password");
  if (/[?#]/.test(value)) throw invalidOption(source, "must not contain a query or fragment");
  return value.replace(/\/+$/, "");
}

function proxies({ value = "", source }: Option): string[] {
  const entries = value.split(",").map((entry) => entry.trim());
  return entries
    .filter((entry) => entry !== "")
    .map((entry) => {
      if (ipaddr.isValidCIDR(entry)) return entry;
      if (ipaddr.isValid(entry)) return `${entry}/${ipaddr.parse(entry).kind() === "ipv4" ? 32 : 128}`;
      throw invalidOption(source, `must be a list of IP addresses or CIDR ranges. This is neither: ${entry}`);
    });
}

function tlsFiles(cert: Option, key: Option): TlsFiles | undefined {
  if (cert.value !== undefined && key.value !== undefined)
    return { cert: resolve(cert.value), key: resolve(key.value) };
  const [missing, flag, given] = cert.value === undefined ? [cert, "--tls-cert", key] : [key, "--tls-key", cert];
  if (given.value === undefined) return undefined;
  // If the user gave a flag, the error names the missing flag; otherwise the missing variable.
  throw invalidOption(given.source.startsWith("--") ? flag : missing.source, `is required with ${given.source}`);
}
