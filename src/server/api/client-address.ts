import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Creates the function that returns the address of a client: the socket's peer, or behind trusted proxies the
 * right-most untrusted hop of `X-Forwarded-For`. Hops further left can be forged.
 * @param trusted valid CIDR ranges.
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
