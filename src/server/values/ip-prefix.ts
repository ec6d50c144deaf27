import ipaddr from "ipaddr.js";

/**
 * What an address counts as in a limit: itself for IPv4 (also when mapped into IPv6), its /64 for IPv6, where one
 * household or attacker has a whole such network.
 */
export function addressGroup(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`);
  return `${network.toString()}/64`;
}
