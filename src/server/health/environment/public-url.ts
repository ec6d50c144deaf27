import { randomUUID } from "node:crypto";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import ipaddr from "ipaddr.js";
import { hostOf, isPublicHost } from "../../delivery/outbound.ts";
import { requestServer } from "../../monitoring/listeners.ts";
import type { RecentRequest } from "../../monitoring/process-monitor.ts";
import { expiryWarningDays } from "../../tls/certificate.ts";
import { rangeMatcher } from "../../values/ip-prefix.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { formatDuration } from "../../values/units.ts";
import { type CheckSubject, type Finding, finding } from "../finding.ts";

const dayMs = 86_400_000;
const orCorrectUrl = "or correct --public-url (BODEGA_PUBLIC_URL)";

/** Checks that the public URL leads to this server, that its TLS is valid, and that a proxy sends the client's address. */
export async function* checkPublicUrl(subject: CheckSubject): AsyncGenerator<Finding> {
  const { publicUrl: url, trustedProxies } = subject.config;
  if (url === undefined) {
    const message = "No public URL is set, so the URL and a proxy in front of the server cannot be checked.";
    const remedy = "Set BODEGA_PUBLIC_URL=https://shop.example.com, or pass --public-url.";
    return yield finding("note", "BODEGA_PUBLIC_URL", message, remedy);
  }
  const call = await callPublicUrl(url, subject);
  const { reply, arrival, expiresAt } = call;
  yield* describeCall(url, call);
  if (!url.startsWith("https:") && isPublicHost(hostOf(new URL(url)))) {
    const message = `${url} is not encrypted: others can read passwords and tokens on the way.`;
    const remedy =
      "Serve https with --acme, --tls-cert or through a proxy (docs/PROXIES.md), and use it in --public-url.";
    yield finding("warning", url, message, remedy);
  }
  const leftMs = expiresAt - subject.now();
  if (reply instanceof Response && leftMs < expiryWarningDays * dayMs) {
    const message = `The certificate at ${url} expires in ${formatDuration(leftMs)}, on ${toTimestamp(expiresAt)}.`;
    yield finding("warning", url, message, "Renew it, and check why it was not renewed automatically.");
  }
  if (arrival !== null) yield* checkArrival(trustedProxies, url, arrival);
}

/**
 * Requests `/health/live` at the public URL, and asks this machine's server how the request arrived. Without a reply,
 * `reply` is the reason: `TIMEOUT`, or a code such as `ECONNREFUSED` or `CERT_HAS_EXPIRED`.
 */
async function callPublicUrl(url: string, { config, timeoutMs }: CheckSubject) {
  const requestId = `doctor-${randomUUID()}`;
  let expiresAt = Number.NaN;
  const reply = await fetch(`${url}/health/live`, {
    headers: { "x-request-id": requestId, "x-forwarded-for": forgedHop },
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
    tls: {
      checkServerIdentity(host: string, certificate: PeerCertificate) {
        expiresAt = Date.parse(certificate.valid_to);
        return checkServerIdentity(host, certificate);
      },
    },
  }).catch(({ name, code }) => (name === "TimeoutError" ? "TIMEOUT" : String(code ?? name)));
  const json: unknown = reply instanceof Response ? await reply.json().catch(() => null) : null;
  const body = json as { request_id?: unknown; data?: unknown } | null;
  /** The request id in Bodega's reply; undefined if another program replied. */
  const answered = body?.data === undefined ? undefined : body.request_id;
  const found = await requestServer(config.dataDir, `/requests?id=${requestId}`);
  const arrival = found?.ok ? ((await found.json()) as RecentRequest) : null;
  return { requestId, reply, answered, expiresAt, arrival, isRunning: found !== null };
}

const toCertificate =
  "Let the proxy or --tls-cert present one with its whole chain (fullchain.pem), name your own authority in NODE_EXTRA_CA_CERTS";
const faults = [
  [/TIMEOUT/, "does not answer in time", "Open its port in firewall and router"],
  [/ENOTFOUND|EAI_AGAIN/, "has no DNS record", "Add one that leads to this machine"],
  [/CERT|TLS|SSL|SIGNATURE/, "has no valid certificate", toCertificate],
  [/./, "does not answer", "Start the proxy in front of the server"],
] as const;

function* describeCall(url: string, call: Awaited<ReturnType<typeof callPublicUrl>>): Generator<Finding> {
  const { requestId, reply, answered, arrival, isRunning } = call;
  if (typeof reply === "string") {
    // If no server runs, this error is expected, and another check reports the cause.
    if (!isRunning && /^(TIMEOUT|ECONNREFUSED|ECONNRESET)$/.test(reply)) return;
    const [, reason, remedy] = faults.find(([codes]) => codes.test(reply)) ?? faults[3];
    return yield finding("error", url, `${url} ${reason} (${reply}).`, `${remedy}, ${orCorrectUrl}.`);
  }
  const location = reply.status >= 300 && reply.status < 400 ? reply.headers.get("location") : null;
  if (location) {
    const target = URL.parse(location, url)?.origin ?? location;
    const message = `${url} redirects to ${target}. API requests with a body fail.`;
    yield finding("error", url, message, `Use --public-url ${target}`);
  } else if (answered === undefined) {
    const remedy = `Let the proxy pass on all paths below ${url}/, ${orCorrectUrl}.`;
    yield finding("error", url, `${url} is not answered by Bodega (HTTP ${reply.status}).`, remedy);
  } else if (arrival === null && isRunning && answered === requestId) {
    const remedy = `This is right if several servers share the URL. Otherwise fix the DNS record or the proxy, ${orCorrectUrl}.`;
    yield finding("warning", url, `${url} is answered by a Bodega server with another data directory.`, remedy);
  }
}

/** An address for documentation (RFC 5737). The request of this check claims to come from this address. */
export const forgedHop = "192.0.2.123";

/** Checks how a request that claims to come from `forgedHop` arrived through the public URL. */
export function* checkArrival(trusted: readonly string[], url: string, arrival: RecentRequest): Generator<Finding> {
  const { client, forwarded, host, protocol } = arrival;
  if (arrival.peer === null) return;
  // A socket for IPv4 and IPv6 reports IPv4 as `::ffff:192.0.2.7`. `ipaddr.process` converts such an address.
  const peer = ipaddr.process(arrival.peer).toString();
  if (client === forgedHop) {
    const message = `Clients can forge their IP address: ${peer} passes on X-Forwarded-For as they send it.`;
    const remedy = "Let the proxy add the client's address (docs/PROXIES.md). Trust only proxies (--trusted-proxy).";
    return yield finding("error", peer, message, remedy);
  }
  const { "x-forwarded-for": hops, ...others } = forwarded;
  const isSameHost = host === null || host === new URL(url).host;
  const isSameProtocol = !url.startsWith("https:") || protocol === "https";
  const isWithoutProxy = hops === forgedHop && Object.keys(others).length === 0 && isSameHost && isSameProtocol;
  if (isWithoutProxy) return;
  if (hops === undefined) {
    const message = `The proxy at ${peer} does not send X-Forwarded-For, so all clients share one rate limit.`;
    return yield finding("error", peer, message, "Let the proxy add the client's address (docs/PROXIES.md).");
  }
  // The proxy has appended the address of doctor to X-Forwarded-For. If the proxy has this address too, the reply does
  // not show whether the server trusts the proxy. Then the setting for trusted proxies is compared.
  const last = hops.split(",").at(-1)?.trim() ?? "";
  const isOwnAddress = ipaddr.isValid(last) && ipaddr.process(last).toString() === peer;
  if (isOwnAddress ? rangeMatcher(trusted)(ipaddr.process(peer)) : client !== peer) return;
  const range = `${peer}/${peer.includes(":") ? 128 : 32}`;
  const message = `The proxy at ${peer} is not trusted, so all clients share one rate limit.`;
  const setting = `BODEGA_TRUSTED_PROXY=${[...trusted, range].join(",")}`;
  yield finding("error", peer, message, `Start the server with --trusted-proxy ${range} (${setting}).`);
}
