import ipaddr from "ipaddr.js";

/** Creates a function that tells whether an address is in one of some CIDR ranges. */
export function rangeMatcher(cidrs: readonly string[]): (address: ipaddr.IPv4 | ipaddr.IPv6) => boolean {
  const ranges = cidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  return (address) =>
    ranges.some(([range, bits]) => range.kind() === address.kind() && address.match([range, bits] as never));
}

/**
 * The group of an address in a limit: the address itself for IPv4 (also mapped into IPv6), its /64 for IPv6, since one
 * household has a whole /64.
 */
export function addressGroup(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`);
  return `${network.toString()}/64`;
}
