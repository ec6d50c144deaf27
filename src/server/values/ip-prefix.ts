import { isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";

export function rangeMatcher(cidrs: readonly string[]): (address: ipaddr.IPv4 | ipaddr.IPv6) => boolean {
  const ranges = cidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  return (address) =>
    ranges.some(([range, bits]) => range.kind() === address.kind() && address.match([range, bits] as never));
}

/** Returns the unit that limits count: an IPv4 address, or the /64 of an IPv6 address, which only one household has. */
export function addressGroup(address: string): string {
  if (isIPv4(address) || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`);
  return `${network.toString()}/64`;
}
