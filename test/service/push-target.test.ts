import { expect, test } from "bun:test";
import { createECDH } from "node:crypto";
import { AppError } from "../../src/server/errors.ts";
import type { Subscription } from "../../src/server/modules/notifications/providers/provider.ts";
import { parseTarget } from "../../src/server/modules/notifications/registrations/target-input.ts";
import type { PushPlatform } from "../../src/server/modules/notifications/table.ts";
import { newAppleToken, newGoogleToken, newSubscription } from "../support/registrations.ts";

const usual = newSubscription();

/** Returns the target, or the name of the refused field. */
function outcome(platform: PushPlatform, given: Parameters<typeof parseTarget>[1], allowPrivate = false) {
  try {
    return parseTarget(platform, given, allowPrivate);
  } catch (error) {
    if (error instanceof AppError && error.code === 5102) return error.details?.[0]?.field;
    throw error;
  }
}

const ofEndpoint = (endpoint: string, allowPrivate?: boolean) =>
  outcome("web", { subscription: { ...usual, endpoint } }, allowPrivate);
const ofKeys = (keys: Partial<Subscription["keys"]>) =>
  outcome("web", { subscription: { ...usual, keys: { ...usual.keys, ...keys } } });

test("an endpoint of a push service is accepted unchanged", () => {
  for (const endpoint of [
    "https://fcm.googleapis.com/fcm/send/c1Zb:APA91b-_",
    "https://sg2p.notify.windows.com/w/?token=BQYAAA%2fb%3d",
    "https://push.example.com:8443/up?id=1&x=%20",
    "https://8.8.8.8/x",
    "https://[2606:4700::1111]/x",
    "https://xn--bcher-kva.example.com/",
    "https://internal.example.com/",
  ]) {
    expect(ofEndpoint(endpoint)).toEqual({ endpoint, keys: usual.keys });
  }
});

test("an endpoint with another spelling of its host is the same endpoint", () => {
  const written = [
    "https://PUSH.example.com/Ab",
    "HTTPS://push.example.com:443/Ab",
    "https://push.example.com/x/../Ab",
  ];
  for (const one of written) expect(ofEndpoint(one)).toMatchObject({ endpoint: "https://push.example.com/Ab" });
});

// `webhook-address.test.ts` tests more addresses.
const privateHosts = [
  ...["127.0.0.1", "127.1", "2130706433", "0x7f.1", "017700000001", "127.0.0.1.", "①②⑦.0.0.1", "[::ffff:8.8.8.8]"],
  ..."localhost LOCALHOST localhost. a.localhost push push. printer.local db.internal a.b.lan".split(" "),
  ..."router.home.arpa x.home x.corp x.intranet x.private x.localdomain abc.onion a..example.com".split(" "),
];
test("an endpoint that is not on the public internet is refused", () => {
  for (const host of privateHosts) {
    expect([host, ofEndpoint(`https://${host}:8443/x`)]).toEqual([host, "subscription.endpoint"]);
  }
});

test("if private endpoints are allowed, an endpoint may be on this machine, by name or address, and use http", () => {
  for (const endpoint of ["http://127.0.0.1:9/x", "http://[::1]:9/x", "https://localhost/x", "http://push/x"]) {
    expect(ofEndpoint(endpoint, true)).toEqual({ endpoint, keys: usual.keys });
  }
  for (const endpoint of ["ftp://127.0.0.1/x", "http://a:b@localhost/x", "http://localhost/#x", "127.0.0.1/x"]) {
    expect(ofEndpoint(endpoint, true)).toBe("subscription.endpoint");
  }
});

const malformedEndpoints = [
  ...["", "x", "//push.example.com/x", "https://", "http://push.example.com/x", "ws://push.example.com/"],
  ...["javascript:alert(1)", "https:push.example.com/x", "https:\\\\push.example.com\\x", "https://push.example.com/é"],
  ...["https://push.example.com\\@127.0.0.1/x", "https://user@push.example.com/", "https://:b@push.example.com/"],
  ...["https://push.example.com/#x", " https://push.example.com/", "https://push.exam\tple.com/", "https://[::1/x"],
  ...["https://push.example.com:99999/", "https://1.2.3.4.5/", "https://push.example.com/\u0000"],
  ...["80", "8080", "65535"].map((port) => `https://push.example.com:${port}/x`),
  `https://push.example.com/${"x".repeat(2000)}`,
];
test("an invalid endpoint is refused", () => {
  for (const endpoint of malformedEndpoints) {
    expect([endpoint, ofEndpoint(endpoint)]).toEqual([endpoint, "subscription.endpoint"]);
  }
});

test("a key may be base64 in both alphabets, with or without padding", () => {
  const padded = (text: string) => text.padEnd(Math.ceil(text.length / 4) * 4, "=");
  const classic = (text: string) => text.replaceAll("-", "+").replaceAll("_", "/");
  for (let n = 0; n < 10; n++) {
    const { keys } = newSubscription();
    for (const form of [padded, classic, (text: string) => padded(classic(text))]) {
      const given = { p256dh: form(keys.p256dh), auth: form(keys.auth) };
      expect(ofKeys(given)).toEqual({ endpoint: usual.endpoint, keys });
    }
  }
});

test("an invalid point of P-256 is refused as a public key", () => {
  const pair = createECDH("prime256v1");
  pair.generateKeys();
  const good = pair.getPublicKey();
  const field = "subscription.keys.p256dh";
  for (let bit = 8; bit < good.length * 8; bit += 7) {
    const bytes = Buffer.from(good);
    bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
    expect(ofKeys({ p256dh: bytes.toString("base64url") })).toBe(field);
  }
  const hybrid = Buffer.from(good);
  hybrid[0] = 6 + ((good[64] as number) & 1);
  const wrong = [
    ...["", "x", "A".repeat(87), good.toString("hex"), pair.getPublicKey("base64url", "compressed")],
    ...[hybrid.toString("base64url"), good.subarray(1).toString("base64url"), "B".repeat(87)],
    ...[`${good.toString("base64url")}A`, ` ${good.toString("base64url")}`],
    good.toString("base64url").replace(/.$/, "."),
  ];
  for (const p256dh of wrong) expect([p256dh, ofKeys({ p256dh })]).toEqual([p256dh, field]);
});

test("an authentication secret of any other length than 16 bytes is refused", () => {
  for (const auth of ["", "A".repeat(21), "A".repeat(23), `${"A".repeat(21)}!`, `${"A".repeat(22)} `]) {
    expect([auth, ofKeys({ auth })]).toEqual([auth, "subscription.keys.auth"]);
  }
});

test("an Apple token is hex of 32 to 100 bytes, in any case", () => {
  for (let digits = 0; digits <= 210; digits++) {
    const token = "aB".repeat(105).slice(0, digits);
    const isGood = digits >= 64 && digits <= 200 && digits % 2 === 0;
    expect(outcome("ios", { token })).toEqual(isGood ? { token: token.toLowerCase() } : "token");
  }
  for (const token of [`${newAppleToken().slice(1)}g`, `${newAppleToken()}\n`, newGoogleToken()]) {
    expect(outcome("ios", { token })).toBe("token");
  }
});

test("a Google token is an installation id, a colon and any text", () => {
  for (const token of [
    newGoogleToken(),
    `c1Zb0aXY_-k:APA91b${"x".repeat(134)}`,
    `${"a".repeat(22)}:${"Zz_-".repeat(122)}`,
  ]) {
    expect(outcome("android", { token })).toEqual({ token });
  }
  const good = newGoogleToken();
  const wrong = [
    ...["", "x", newAppleToken(), good.replace(":", ""), good.slice(0, 60), `:${good}`, `${good} `, `${good}\n`],
    ...[good.replace(":", "/"), `${good}é`, `${good}${"x".repeat(4096)}`, `projects/${good}`, `${good}?x=1`],
  ];
  for (const token of wrong) expect([token, outcome("android", { token })]).toEqual([token, "token"]);
});

test("a platform accepts only its own kind of address", () => {
  const token = newAppleToken();
  expect(outcome("web", {})).toBe("subscription");
  expect(outcome("web", { token })).toBe("token");
  expect(outcome("web", { token, subscription: usual })).toBe("token");
  for (const platform of ["ios", "android"] as const) {
    expect(outcome(platform, {})).toBe("token");
    expect(outcome(platform, { subscription: usual })).toBe("subscription");
    expect(outcome(platform, { subscription: usual, token })).toBe("subscription");
  }
});
