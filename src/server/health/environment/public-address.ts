import { isIP } from "node:net";
import { connect } from "node:tls";
import ipaddr from "ipaddr.js";
import { expiryWarningDays } from "../../tls/check-certificate.ts";
import { formatDuration } from "../../values/duration.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { askPublic, type PublicCall } from "./ask-public.ts";
import type { Checkup, CheckupDeps, Finding } from "./finding.ts";

const dayMs = 86_400_000;
const settled = "or correct --public-url (BODEGA_PUBLIC_URL)";

/** The address that the world knows leads here, over TLS that it trusts. */
export const publicAddress: Checkup = {
  name: "address",
  async find(about) {
    const { publicUrl } = about.config;
    if (publicUrl === undefined) return [noAddress()];
    const call = await askPublic(publicUrl, about);
    const found = [describeCall(publicUrl, call, about), describePlain(publicUrl)];
    if (call.reply && publicUrl.startsWith("https:")) found.push(await findShortCertificate(publicUrl, about));
    return found.filter((finding) => finding !== null);
  },
};

function noAddress(): Finding {
  return {
    severity: "note",
    subject: "BODEGA_PUBLIC_URL",
    message: "No public address is set, so neither it nor a proxy in front of the server can be looked at.",
    remedy: "Set BODEGA_PUBLIC_URL=https://shop.example.com, or give --public-url.",
  };
}

function describeCall(publicUrl: string, call: PublicCall, { command }: CheckupDeps): Finding | null {
  const { hostname } = new URL(publicUrl);
  const error = (message: string, remedy: string): Finding => ({
    severity: "error",
    subject: publicUrl,
    message,
    remedy,
  });
  const { reply, fault, seen, isRunning } = call;
  if (fault !== null) {
    const [message, remedy] = describeFault(publicUrl, hostname, fault);
    // While nothing runs here, nobody need answer there.
    const isQuiet = !isRunning && /^(TIMEOUT|ECONNREFUSED|ECONNRESET)$/.test(fault);
    const start = `Start the server first: ${command("serve")}`;
    return isQuiet
      ? { ...error(`${message} No server of this folder runs.`, start), severity: "warning" }
      : error(message, remedy);
  }
  if (reply === null) return null;
  if (reply.location !== null) {
    const target = URL.canParse(reply.location, publicUrl) ? new URL(reply.location, publicUrl).origin : reply.location;
    return error(
      `${publicUrl} sends callers on to ${target}; API calls with a body get lost there.`,
      `--public-url ${target}`,
    );
  }
  if (reply.requestId === null) {
    return error(
      `Somebody answers at ${publicUrl} with ${reply.status}, and it is not Bodega.`,
      `Have the proxy pass every path below ${publicUrl}/ on, ${settled}.`,
    );
  }
  if (seen === null && isRunning && reply.requestId === call.requestId) {
    return {
      severity: "warning",
      subject: publicUrl,
      message: `A Bodega answers at ${publicUrl}, and it is not the one of this folder.`,
      remedy: `Nothing to do where several copies share the address; else correct DNS and proxy, ${settled}.`,
    };
  }
  return null;
}

function describeFault(publicUrl: string, hostname: string, fault: string): [message: string, remedy: string] {
  switch (fault) {
    case "TIMEOUT":
      return [`Nobody answers at ${publicUrl} in time.`, `Let firewall and router pass its port, ${settled}.`];
    case "ENOTFOUND":
    case "EAI_AGAIN":
    case "DNS_ENOTFOUND":
      return [
        `There is no host ${hostname} in DNS.`,
        `Make a record for ${hostname} that leads to this machine, ${settled}.`,
      ];
    case "CERT_HAS_EXPIRED":
      return [`The certificate at ${publicUrl} has ended.`, "Renew it where TLS ends: at the proxy, or in --tls-cert."];
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return [
        `The certificate at ${publicUrl} is for other names.`,
        `Have one issued that names ${hostname}, ${settled}.`,
      ];
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
      return [
        `The certificate at ${publicUrl} signs itself: browsers and apps refuse it.`,
        "Have one issued by an authority that they know; for one of your own, name it in NODE_EXTRA_CA_CERTS.",
      ];
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
      return [
        `The certificate at ${publicUrl} comes without those between it and a known authority.`,
        "Present the whole chain (fullchain.pem, not cert.pem).",
      ];
    default:
      return /CERT|TLS|SSL|SIGNATURE/.test(fault)
        ? [`The certificate at ${publicUrl} is refused (${fault}).`, `Put it right where TLS ends, ${settled}.`]
        : [`Nobody answers at ${publicUrl} (${fault}).`, `Start the proxy in front of the server, ${settled}.`];
  }
}

/** Passwords and tokens that cross the world readable. */
function describePlain(publicUrl: string): Finding | null {
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol === "https:" || isPrivate(hostname.replace(/^\[|\]$/g, ""))) return null;
  return {
    severity: "warning",
    subject: publicUrl,
    message: `${publicUrl} is not encrypted: passwords and tokens can be read on the way.`,
    remedy: "Serve https, by --tls-cert and --tls-key or by a proxy (docs/PROXIES.md), and name it in --public-url.",
  };
}

function isPrivate(hostname: string): boolean {
  if (isIP(hostname) === 0) return !hostname.includes(".") || /\.(localhost|local|internal|home\.arpa)$/.test(hostname);
  return ipaddr.process(hostname).range() !== "unicast";
}

async function findShortCertificate(publicUrl: string, { now, timeoutMs }: CheckupDeps): Promise<Finding | null> {
  const until = await readEnd(new URL(publicUrl), timeoutMs);
  if (until === null || until - now() >= expiryWarningDays * dayMs) return null;
  return {
    severity: "warning",
    subject: publicUrl,
    message: `The certificate at ${publicUrl} ends in ${formatDuration(until - now())}, ${toTimestamp(until)}.`,
    remedy: "Renew it where TLS ends, and see why that has not happened by itself.",
  };
}

/** When the certificate ends that is presented there, epoch milliseconds; null when it cannot be seen. */
function readEnd({ hostname, port }: URL, timeoutMs: number): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const host = hostname.replace(/^\[|\]$/g, "");
  const name = isIP(host) === 0 ? { servername: host } : {};
  const socket = connect({ host, port: Number(port || 443), ...name }, () => {
    const until = Date.parse(socket.getPeerCertificate().valid_to);
    resolve(Number.isNaN(until) ? null : until);
  });
  socket.on("error", () => resolve(null));
  socket.setTimeout(timeoutMs, () => resolve(null));
  return promise.finally(() => socket.destroy());
}
