import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Makes the function that says where a request comes from: the socket's peer, unless that is a trusted proxy; then the
 * right-most hop of `X-Forwarded-For` that is not one. Whatever stands further left was written by the caller.
 * @param trusted CIDR ranges, already checked.
 */
export function clientAddressReader(trusted: readonly string[]): (peer: string, forwarded: string | null) => string {
  const ranges = trusted.map((cidr) => ipaddr.parseCIDR(cidr));
  const isTrusted = (address: Address) =>
    ranges.some(([range, bits]) => range.kind() === address.kind() && address.match([range, bits] as never));
  return (peer, forwarded) => {
    if (!ipaddr.isValid(peer)) return peer;
    let nearest = ipaddr.process(peer);
    if (ranges.length === 0 || forwarded === null) return nearest.toString();
    for (const hop of forwarded.split(",").reverse()) {
      if (!isTrusted(nearest)) break;
      const text = withoutPort(hop.trim());
      if (!ipaddr.isValid(text)) break;
      nearest = ipaddr.process(text);
    }
    return nearest.toString();
  };
}

/** Some proxies write the port as well: `203.0.113.7:4711`, `[2001:db8::1]:443`. */
function withoutPort(hop: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}
