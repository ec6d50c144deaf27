import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Answer } from "../../src/server/delivery/channel.ts";
import { createApnsProvider } from "../../src/server/modules/notifications/providers/apns.ts";
import type { PushProvider } from "../../src/server/modules/notifications/providers/provider.ts";
import { type ApnsService, startApnsService } from "../support/apns-service.ts";
import { certificate } from "../support/certificate.ts";
import { failureOf } from "../support/failure.ts";
import { attemptPush, pushOptions } from "../support/push-options.ts";
import { until } from "../support/until.ts";

const start = Date.UTC(2030, 0, 1);
const payload = { title: "Sale", body: "Lamps for half" };
const target = { token: "a1b2".repeat(16) };
let service: ApnsService;
let provider: PushProvider;
let now: number;

beforeEach(async () => {
  now = start;
  await open();
});
afterEach(close);

async function open(options: Parameters<typeof startApnsService>[0] = {}) {
  service = await startApnsService(options);
  provider = createApnsProvider(service.account, { now: () => now, origin: service.origin, ca: certificate });
}
async function close() {
  await service.close();
}

const deliver = (signal?: AbortSignal) => attemptPush(provider, target, payload, pushOptions(signal));
const sent: Answer = { result: "accepted", isFinal: false, status: 200, retryAfterMs: 0, isGone: false, error: null };

test("a message arrives in the format of iOS, with a token signed by the account's key", async () => {
  const more = { url: "/sale", tag: "msg_1", data: { number: 7 } };
  const urgent = { ...pushOptions(), urgency: "high" as const, ttlSeconds: 3600 };
  expect(await provider.deliver(target, { ...payload, ...more }, urgent)).toEqual(sent);
  const [message] = service.received;
  expect(message?.path).toBe(`/3/device/${target.token}`);
  expect(message?.payload).toEqual({
    aps: { alert: payload, sound: "default" },
    url: "/sale",
    data: { number: 7 },
  });
  expect(message?.headers).toMatchObject({
    "apns-topic": "com.example.shop",
    "apns-push-type": "alert",
    "apns-priority": "10",
    "apns-expiration": String(start / 1000 + 3600),
    "apns-collapse-id": "msg_1",
  });
  expect(message?.token).toEqual({
    header: { alg: "ES256", kid: "KEY1234567" },
    claims: { iss: "TEAM123456", iat: start / 1000 },
  });
});

test("a few connections and one token serve all messages, within the stream limit of the service", async () => {
  const deliverTwenty = () => Promise.all(Array.from({ length: 20 }, () => deliver()));
  expect(await deliverTwenty()).toEqual(Array(20).fill(sent));
  expect(service.connections()).toBe(1);
  await close();
  await open({ maxConcurrentStreams: 2 });
  expect(await deliverTwenty()).toEqual(Array(20).fill(sent));
  expect(service.connections()).toBeLessThanOrEqual(10);
  expect(new Set(service.received.map(({ headers }) => headers.authorization)).size).toBe(1);
});

test("the token is renewed within the hour", async () => {
  await deliver();
  now += 49 * 60_000;
  await deliver();
  now += 60_000;
  await deliver();
  const issued = service.received.map(({ token }) => token.claims.iat);
  expect(issued).toEqual([start / 1000, start / 1000, start / 1000 + 3000]);
});

for (const [what, answer, expected] of [
  [
    "a device that is gone",
    { status: 410, reason: "Unregistered" },
    { status: 410, isGone: true, error: "410 Unregistered" },
  ],
  [
    "a message that is too large",
    { status: 413, reason: "PayloadTooLarge" },
    { status: 413, error: "413 PayloadTooLarge" },
  ],
  [
    "a device of another app",
    { status: 400, reason: "DeviceTokenNotForTopic" },
    { status: 400, error: "400 DeviceTokenNotForTopic" },
  ],
  [
    "too many",
    { status: 429, reason: "TooManyRequests", headers: { "retry-after": "9" } },
    { status: 429, retryAfterMs: 9000, error: "429 TooManyRequests" },
  ],
  ["trouble there", { status: 503, reason: "Shutdown" }, { status: 503, error: "503 Shutdown" }],
  ["an answer without a reason", { status: 500 }, { status: 500, error: "500" }],
  [
    "an account that is refused",
    { status: 403, reason: "InvalidProviderToken" },
    { status: null, error: "Apple rejects the account (403 InvalidProviderToken): check the BODEGA_APNS_ options" },
  ],
] as const satisfies [string, ApnsService["answers"][number], Partial<Answer>][]) {
  test(`${what} is explained`, async () => {
    service.answers.push(answer);
    expect(await deliver()).toMatchObject({ retryAfterMs: 0, isGone: false, ...expected });
  });
}

test("an unknown token is removed only after another was accepted, because it may belong to the other environment", async () => {
  const unknown = { status: 400, reason: "BadDeviceToken" };
  service.answers.push(unknown);
  expect(await deliver()).toMatchObject({ status: 400, isGone: false });
  expect(await deliver()).toEqual(sent);
  service.answers.push(unknown);
  expect(await deliver()).toMatchObject({ status: 400, isGone: true });
});

test("after a GOAWAY, messages use another connection", async () => {
  await deliver();
  service.sendAway();
  await until(
    "a message goes through again",
    async () => (await deliver()).status === 200 && service.connections() === 2,
  );
  expect(service.connections()).toBe(2);
});

test("a connection that does not answer in time is not used again", async () => {
  await deliver();
  service.fallSilent();
  const stop = new AbortController();
  const waiting = failureOf(deliver(stop.signal));
  stop.abort(new Error("too late"));
  expect(await waiting).toHaveProperty("message", "too late");
  const end = new AbortController();
  const second = failureOf(deliver(end.signal));
  await until("another connection is made", () => service.connections() === 2);
  end.abort(new Error("the engine stops"));
  expect(await second).toHaveProperty("message", "the engine stops");
});

test("nothing is sent to a server with an untrusted certificate", async () => {
  const wary = createApnsProvider(service.account, { now: () => now, origin: service.origin });
  expect(await attemptPush(wary, target, payload)).toMatchObject({ status: null });
  expect(service.received).toEqual([]);
});
