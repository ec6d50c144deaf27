import { describe, expect, test } from "bun:test";
import { clientAddressReader } from "../../src/server/api/headers.ts";
import { addressGroup } from "../../src/server/values/ip-prefix.ts";

const v4 = ["10.0.0.0/8"];
const both = ["10.0.0.0/8", "fd00::/8", "192.0.2.7/32"];

const cases: [name: string, trusted: string[], peer: string, forwarded: string | null, client: string][] = [
  ["no trusted proxies: the header is ignored", [], "203.0.113.5", "1.2.3.4", "203.0.113.5"],
  ["an IPv4 peer that comes as IPv6 is itself", [], "::ffff:203.0.113.5", null, "203.0.113.5"],
  ["a peer that is not a trusted proxy is the client", v4, "203.0.113.5", "1.2.3.4", "203.0.113.5"],
  ["a proxy's header names the caller", v4, "10.0.0.1", "203.0.113.5", "203.0.113.5"],
  ["a proxy without a header is itself", v4, "10.0.0.1", null, "10.0.0.1"],
  ["an empty header is ignored", v4, "10.0.0.1", "", "10.0.0.1"],
  ["forged hops are further left", v4, "10.0.0.1", "1.2.3.4, 203.0.113.5", "203.0.113.5"],
  ["a chain of proxies is followed", v4, "10.0.0.1", "203.0.113.5, 10.0.0.3, 10.0.0.2", "203.0.113.5"],
  ["a forged proxy in front does not help", v4, "10.0.0.1", "10.0.0.9, 203.0.113.5, 10.0.0.2", "203.0.113.5"],
  ["proxies all the way: the farthest", v4, "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
  ["junk ends the chain at the last who is known", v4, "10.0.0.1", "1.2.3.4, junk, 10.0.0.2", "10.0.0.2"],
  ["junk alone leaves the proxy", v4, "10.0.0.1", "unknown", "10.0.0.1"],
  ["white space is no part of a hop", v4, "10.0.0.1", "  203.0.113.5\t", "203.0.113.5"],
  ["proxies of both families", both, "fd00::1", "203.0.113.5, 192.0.2.7, 10.1.1.1", "203.0.113.5"],
  ["a neighbour of a trusted address is not trusted", both, "192.0.2.8", "203.0.113.5", "192.0.2.8"],
  ["an IPv4 proxy that comes as IPv6", v4, "::ffff:10.0.0.1", "203.0.113.5", "203.0.113.5"],
  ["an IPv4 hop written as IPv6", v4, "10.0.0.1", "::ffff:203.0.113.5", "203.0.113.5"],
  ["an IPv6 caller, however written", v4, "10.0.0.1", "2001:DB8:0:0::0001", "2001:db8::1"],
  ["a hop with its port", v4, "10.0.0.1", "203.0.113.5:4711", "203.0.113.5"],
  ["an IPv6 hop with its port", v4, "10.0.0.1", "[2001:db8::1]:443, 10.0.0.2:80", "2001:db8::1"],
  ["a header of ten thousand hops", v4, "10.0.0.1", `${"1.2.3.4, ".repeat(10_000)}203.0.113.5`, "203.0.113.5"],
];

describe("the client's address", () => {
  for (const [name, trusted, peer, forwarded, client] of cases) {
    test(name, () => expect(clientAddressReader(trusted)(peer, forwarded)).toBe(client));
  }
});

describe("the group of an address", () => {
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
    test(`${address} counts as ${group}`, () => expect(addressGroup(address)).toBe(group));
  }
});
