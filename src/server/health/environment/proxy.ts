import ipaddr from "ipaddr.js";
import type { RecentRequest } from "../../monitoring/server-status.ts";
import { askPublic, forgedHop } from "./ask-public.ts";
import type { Checkup, CheckupDeps, Finding } from "./finding.ts";

const page = "docs/PROXIES.md has whole configurations.";

/** What a proxy in front of the server makes of a request, as the server sees it. */
export const proxy: Checkup = {
  name: "proxy",
  async find(about) {
    const { publicUrl } = about.config;
    if (publicUrl === undefined) return [];
    const { reply, requestId, seen } = await askPublic(publicUrl, about);
    if (seen !== null) return describeArrival(about, publicUrl, seen);
    // Who answers at all is the concern of another check.
    if (!reply?.requestId || reply.requestId === requestId) return [];
    return [
      {
        severity: "note",
        subject: publicUrl,
        message: `Something in front of the server replaces X-Request-Id, so a call of ${publicUrl} cannot be followed.`,
        remedy: `Let the header pass: then callers find their requests in the log. ${page}`,
      },
    ];
  },
};

/** What is wrong with how a call of `publicUrl` arrived that claimed to come from `forgedHop`. */
export function describeArrival({ config }: CheckupDeps, publicUrl: string, seen: RecentRequest): Finding[] {
  const { client, forwarded, host, protocol } = seen;
  const peer = seen.peer === null ? null : normalise(seen.peer);
  const { "x-forwarded-for": hops, ...others } = forwarded;
  const { host: wanted } = new URL(publicUrl);
  const isOtherHost = host !== null && host !== wanted;
  const isUnlocked = publicUrl.startsWith("https:") && protocol === "http";
  if (peer === null) return [];
  if (hops === forgedHop && Object.keys(others).length === 0 && !isOtherHost && !isUnlocked) {
    return client === forgedHop ? [trustedCaller(peer)] : [];
  }
  // Whoever adds to what the caller wrote, or replaces it, makes the last hop; what stands left of it does not count.
  const lastHop = hops?.split(",").at(-1)?.trim();
  const last = lastHop && normalise(lastHop);
  // From the proxy's own machine, both are the same: then only the settings tell.
  const isTrusted = last === undefined || last === peer ? isAmong(peer, config.trustedProxies) : client !== peer;
  return [
    ...(isTrusted ? [] : [untrusted(peer, config.trustedProxies)]),
    ...(last === undefined || last === forgedHop ? [noHop(peer, hops, isTrusted)] : []),
    ...(isOtherHost ? [otherHost(publicUrl, host, wanted)] : []),
  ];
}

function untrusted(peer: string, trusted: readonly string[]): Finding {
  const range = `${peer}/${peer.includes(":") ? 128 : 32}`;
  return {
    severity: "error",
    subject: peer,
    message: `A proxy at ${peer} stands in front of the server and is not trusted, so all callers count as one towards the limits.`,
    remedy: `Start the server with --trusted-proxy ${range} (BODEGA_TRUSTED_PROXY=${[...trusted, range].join(",")}).`,
  };
}

function noHop(peer: string, hops: string | undefined, isTrusted: boolean): Finding {
  const consequence =
    hops === undefined
      ? "says nothing of who calls: all callers count as one towards the limits"
      : "passes X-Forwarded-For on as callers write it: each can choose the address that it counts as";
  return {
    severity: isTrusted ? "error" : "warning",
    subject: peer,
    message: `The proxy at ${peer} ${consequence}.`,
    remedy: `Have it add the caller's address; in nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; ${page}`,
  };
}

function trustedCaller(peer: string): Finding {
  return {
    severity: "error",
    subject: peer,
    message: `Calls arrive from ${peer} without a proxy, and are believed as if they came from one: callers choose their address.`,
    remedy: "Take the addresses of callers out of --trusted-proxy (BODEGA_TRUSTED_PROXY); it is for proxies alone.",
  };
}

function otherHost(publicUrl: string, host: string, wanted: string): Finding {
  return {
    severity: "note",
    subject: publicUrl,
    message: `The proxy asks the server for ${host}, and was asked for ${wanted}. Bodega itself does not look at it.`,
    remedy: `For the sake of logs, pass it on; in nginx: proxy_set_header Host $host; ${page}`,
  };
}

/** A socket for both families tells of IPv4 as `::ffff:192.0.2.7`. */
function normalise(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

function isAmong(peer: string, ranges: readonly string[]): boolean {
  const address = ipaddr.process(peer);
  return ranges.some((cidr) => {
    const [range, bits] = ipaddr.parseCIDR(cidr);
    return range.kind() === address.kind() && address.match([range, bits] as never);
  });
}
