import { lookup as lookupName } from "node:dns/promises";
import ipaddr from "ipaddr.js";
import { DeliveryFailure } from "./attempt-failure.ts";

export type Lookup = (name: string) => Promise<string[]>;

/** Resolves names as the machine does. IPv4 comes first, because many machines have no IPv6 route. */
export const lookupAddresses: Lookup = async (name) =>
  (await lookupName(name, { all: true, order: "ipv4first" })).map(({ address }) => address);

export class RefusedAddress extends DeliveryFailure {}

export async function resolveAddresses(url: URL, allowPrivate: boolean, lookup: Lookup): Promise<string[]> {
  const host = hostOf(url);
  const addresses = ipaddr.isValid(host) ? [host] : await lookup(host);
  const refused = allowPrivate ? undefined : addresses.find((address) => !isPublic(address));
  if (refused !== undefined) {
    const which = refused === host ? host : `${host} has ${refused}, which`;
    throw new RefusedAddress(`${which} is not a public address`);
  }
  return addresses;
}

/** The host without brackets and trailing dot. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

const privateNames =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|onion)$/i;

/** Whether a host is a public address or a name that can have one. */
export function isPublicHost(host: string): boolean {
  if (ipaddr.isValid(host)) return isPublic(host);
  const labels = host.split(".");
  return labels.length > 1 && !labels.includes("") && !privateNames.test(host);
}

const globalUnicast = ipaddr.parseCIDR("2000::/3") as [ipaddr.IPv6, number];

/** Whether an address is public. One that embeds IPv4 (mapped, 6to4, NAT64, Teredo) is not: that may be private. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return parsed.kind() === "ipv4" || (parsed as ipaddr.IPv6).match(globalUnicast);
}
