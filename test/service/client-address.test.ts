import { describe, expect, test } from "bun:test";
import { clientAddressReader } from "../../src/server/api/headers.ts";
import { addressGroup } from "../../src/server/values/ip-prefix.ts";

const v4 = ["10.0.0.0/8"];
const both = ["10.0.0.0/8", "fd00::/8", "192.0.2.7/32"];

const cases: [name: string, trusted: string[], peer: string, forwarded: string | null, client: string][] = [
  ["no trusted proxies: the header is ignored", [], "203.0.113.5", "1.2.3.4", "203.0.113.5"],
  ["an IPv4 peer with an IPv6 form of its address is the client", [], "::ffff:203.0.113.5", null, "203.0.113.5"],
  ["a peer that is not a trusted proxy is the client", v4, "203.0.113.5", "1.2.3.4", "203.0.113.5"],
  ["a trusted proxy's header names the client", v4, "10.0.0.1", "203.0.113.5", "203.0.113.5"],
  ["a trusted proxy that sends no header is the client", v4, "10.0.0.1", null, "10.0.0.1"],
  ["an empty header is ignored", v4, "10.0.0.1", "", "10.0.0.1"],
  ["forged hops, which are further left, have no effect", v4, "10.0.0.1", "1.2.3.4, 203.0.113.5", "203.0.113.5"],
  ["a chain of trusted proxies leads to the client", v4, "10.0.0.1", "203.0.113.5, 10.0.0.3, 10.0.0.2", "203.0.113.5"],
  ["a forged proxy at the beginning has no effect", v4, "10.0.0.1", "10.0.0.9, 203.0.113.5, 10.0.0.2", "203.0.113.5"],
  ["if all hops are trusted proxies, the farthest is the client", v4, "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
  ["an invalid hop ends the chain at the last valid hop", v4, "10.0.0.1", "1.2.3.4, junk, 10.0.0.2", "10.0.0.2"],
  ["a header with only an invalid hop leaves the proxy as the client", v4, "10.0.0.1", "unknown", "10.0.0.1"],
  ["white space is not a part of a hop", v4, "10.0.0.1", "  203.0.113.5\t", "203.0.113.5"],
  ["proxies of both families", both, "fd00::1", "203.0.113.5, 192.0.2.7, 10.1.1.1", "203.0.113.5"],
  ["an address next to a trusted range is not trusted", both, "192.0.2.8", "203.0.113.5", "192.0.2.8"],
  ["an IPv4 proxy with an IPv6 form of its address is trusted", v4, "::ffff:10.0.0.1", "203.0.113.5", "203.0.113.5"],
  ["an IPv4 hop in IPv6 form is the IPv4 client", v4, "10.0.0.1", "::ffff:203.0.113.5", "203.0.113.5"],
  ["an IPv6 client in another spelling is the same", v4, "10.0.0.1", "2001:DB8:0:0::0001", "2001:db8::1"],
  ["the port of a hop is ignored", v4, "10.0.0.1", "203.0.113.5:4711", "203.0.113.5"],
  ["the port of an IPv6 hop is ignored", v4, "10.0.0.1", "[2001:db8::1]:443, 10.0.0.2:80", "2001:db8::1"],
  ["a header of ten thousand hops is read", v4, "10.0.0.1", `${"1.2.3.4, ".repeat(10_000)}203.0.113.5`, "203.0.113.5"],
];

describe("the client's address", () => {
  for (const [name, trusted, peer, forwarded, client] of cases) {
    test(name, () => expect(clientAddressReader(trusted)(peer, forwarded)).toBe(client));
  }
});

describe("the group by which an address is counted", () => {
  for (const [address, group] of [
    ["203.0.113.5", "203.0.113.5"],
    ["::ffff:203.0.113.5", "203.0.113.5"],
    ["::ffff:cb00:7105", "203.0.113.5"],
    ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
    ["2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002:0:0:0:9", "2001:db8:1:2::/64"],
    ["2001:db8:1:3::1", "2001:db8:1:3::/64"],
    ["::1", "::/64"],
    ["unknown", "unknown"],
  ] as const) {
    test(`the address ${address} is counted as ${group}`, () => expect(addressGroup(address)).toBe(group));
  }
});
