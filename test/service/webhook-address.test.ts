import { describe, expect, test } from "bun:test";
import { isPublic, RefusedAddress, resolveAddresses } from "../../src/server/delivery/outbound.ts";
import { parseWebhookUrl } from "../../src/server/modules/webhooks/service.ts";
import { failureOf } from "../support/failure.ts";

const noLookup = async (name: string): Promise<string[]> => {
  throw new Error(`${name} was looked up`);
};

test("only unicast addresses on the internet count as public", () => {
  for (const address of ["93.184.216.34", "1.1.1.1", "172.15.0.1", "172.32.0.1", "2606:4700:4700::1111"]) {
    expect([address, isPublic(address)]).toEqual([address, true]);
  }
  for (const [what, ...addresses] of [
    ["this machine", "127.0.0.1", "127.255.255.254", "::1"],
    ["any address", "0.0.0.0", "0.1.2.3", "::"],
    ["a private network", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12::1", "fec0::1"],
    ["link-local addresses, where clouds serve credentials", "169.254.169.254", "fe80::1", "fe80::1%eth0"],
    ["a carrier's private network", "100.64.0.1", "100.127.255.255"],
    ["a group", "224.0.0.1", "255.255.255.255", "ff02::1"],
    ["reserved", "240.0.0.1", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "2001:db8::1"],
    ["IPv4 inside IPv6", "::ffff:127.0.0.1", "::ffff:93.184.216.34", "::7f00:1", "::127.0.0.1", "::ffff:0:127.0.0.1"],
    [
      "an address of a translator between IPv6 and IPv4",
      "64:ff9b::7f00:1",
      "64:ff9b:1::a00:1",
      "2002:7f00:1::",
      "2001:0:7f00:1::",
    ],
    ["a text that is not an address", "example.com", ""],
  ]) {
    expect([what, addresses.filter(isPublic)]).toEqual([what, []]);
  }
});

describe("the URL of a webhook", () => {
  test.each([
    ["ftp://example.com/", true],
    ["http://example.com/", false],
    ["example.com", false],
    ["https://user@example.com/", true],
    ["https://:secret@example.com/", true],
    ["https://example.com/#part", false],
    [`https://example.com/${"a".repeat(2000)}`, false],
  ])("the URL of a webhook like %.40s is refused", async (given, allowPrivate) => {
    const details = [{ field: "url", message: expect.any(String) }];
    expect(await failureOf(() => parseWebhookUrl(given, allowPrivate))).toMatchObject({ code: 5102, details });
  });

  test("the URL of a webhook may have a port, a path and a query, and http only if private addresses are allowed", () => {
    expect(parseWebhookUrl("HTTPS://Example.com:8443/a?b=c", false)).toBe("https://example.com:8443/a?b=c");
    expect(parseWebhookUrl("http://10.0.0.1/", true)).toBe("http://10.0.0.1/");
  });

  test("a webhook's URL with a private host is refused in any spelling, when the webhook is added and at each attempt", async () => {
    for (const host of ["127.0.0.1", "2130706433", "0x7f.1", "[::ffff:7f00:1]"]) {
      expect(await failureOf(() => parseWebhookUrl(`https://${host}/`, false))).toMatchObject({ code: 5102 });
      const url = new URL(parseWebhookUrl(`https://${host}/`, true));
      expect(await failureOf(resolveAddresses(url, false, noLookup))).toBeInstanceOf(RefusedAddress);
    }
  });

  test("a webhook's URL is refused if its host name has one private address among public addresses", async () => {
    const url = new URL("https://example.com/");
    const lookup = async () => ["93.184.216.34", "10.0.0.1"];
    expect(await failureOf(resolveAddresses(url, false, lookup))).toBeInstanceOf(RefusedAddress);
    expect(await resolveAddresses(url, true, lookup)).toEqual(["93.184.216.34", "10.0.0.1"]);
  });
});
