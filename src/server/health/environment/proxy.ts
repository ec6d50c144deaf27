import ipaddr from "ipaddr.js";
import type { RecentRequest } from "../../monitoring/server-status.ts";
import { rangeMatcher } from "../../values/ip-prefix.ts";
import { type Finding, finding } from "../finding.ts";

/** A documentation address, as the forged client of a test request. */
export const forgedHop = "192.0.2.123";

/** Checks how a request of the public URL arrived that claimed to come from `forgedHop`. */
export function checkArrival(trustedProxies: readonly string[], url: string, arrival: RecentRequest): Finding[] {
  const { client, forwarded, host, protocol } = arrival;
  if (arrival.peer === null) return [];
  const peer = normalizeAddress(arrival.peer);
  const { "x-forwarded-for": hops, ...others } = forwarded;
  const isSameHost = host === null || host === new URL(url).host;
  const isSameProtocol = !url.startsWith("https:") || protocol === "https";
  if (hops === forgedHop && Object.keys(others).length === 0 && isSameHost && isSameProtocol) {
    return client === forgedHop ? [describeTrustedClient(peer)] : []; // There is no proxy.
  }
  // The last hop is the one that the proxy wrote.
  const lastHop = hops?.split(",").at(-1)?.trim();
  const last = lastHop && normalizeAddress(lastHop);
  // On the proxy's own machine both addresses are the same, so only the options decide.
  const isTrusted =
    last === undefined || last === peer ? rangeMatcher(trustedProxies)(ipaddr.process(peer)) : client !== peer;
  return [
    ...(isTrusted ? [] : [describeUntrusted(peer, trustedProxies)]),
    ...(last === undefined || last === forgedHop ? [describeHops(peer, hops, isTrusted)] : []),
  ];
}

function describeUntrusted(peer: string, trusted: readonly string[]): Finding {
  const range = `${peer}/${peer.includes(":") ? 128 : 32}`;
  const message = `The proxy at ${peer} is not trusted, so all clients share one rate limit.`;
  const remedy = `Start the server with --trusted-proxy ${range} (BODEGA_TRUSTED_PROXY=${[...trusted, range].join(",")}).`;
  return finding("error", peer, message, remedy);
}

function describeHops(peer: string, hops: string | undefined, isTrusted: boolean): Finding {
  const fault =
    hops === undefined
      ? "does not send X-Forwarded-For, so all clients share one rate limit"
      : "passes on X-Forwarded-For as clients send it, so clients can forge their IP address";
  const remedy =
    "Let the proxy add the client's address. nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; (see docs/PROXIES.md)";
  return finding(isTrusted ? "error" : "warning", peer, `The proxy at ${peer} ${fault}.`, remedy);
}

function describeTrustedClient(peer: string): Finding {
  const message = `Requests arrive from ${peer} without a proxy, but the address is trusted as a proxy: clients can forge their IP address.`;
  const remedy = "Remove addresses that are not proxies from --trusted-proxy (BODEGA_TRUSTED_PROXY).";
  return finding("error", peer, message, remedy);
}

/** Sockets for both families report IPv4 as `::ffff:192.0.2.7`. */
function normalizeAddress(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}
