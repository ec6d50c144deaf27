import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Answer } from "../../src/server/delivery/channel.ts";
import { createFcmProvider } from "../../src/server/modules/notifications/providers/fcm.ts";
import type { PushProvider } from "../../src/server/modules/notifications/providers/provider.ts";
import { certificate } from "../support/certificate.ts";
import { type FcmService, startFcmService } from "../support/fcm-service.ts";
import { attemptPush, pushOptions } from "../support/push-options.ts";

const start = Date.UTC(2030, 0, 1);
const payload = { title: "Sale", body: "Lamps for half" };
const target = { token: "device:token" };
let service: FcmService;
let provider: PushProvider;
let now: number;

beforeAll(async () => {
  service = await startFcmService();
});
afterAll(() => service.close());
beforeEach(() => {
  now = start;
  service.received.length = 0;
  service.asked.length = 0;
  provider = createFcmProvider(service.account, { now: () => now, origin: service.origin, ca: certificate });
});

const deliver = (signal?: AbortSignal) => attemptPush(provider, target, payload, pushOptions(signal));
const sent: Answer = { result: "accepted", isFinal: false, status: 200, retryAfterMs: 0, isGone: false, error: null };

test("a message arrives in the format of Android, with a token obtained by the account's key", async () => {
  const more = { url: "/sale", tag: "msg_1", data: { number: 7, type: "order.paid" } };
  const urgent = { ...pushOptions(), urgency: "high" as const, topic: "order-7", ttlSeconds: 3600 };
  expect(await provider.deliver(target, { ...payload, ...more }, urgent)).toEqual(sent);
  expect(service.received).toEqual([
    {
      path: "/v1/projects/demo-shop/messages:send",
      message: {
        token: "device:token",
        notification: payload,
        data: { number: "7", type: "order.paid", url: "/sale" },
        android: { ttl: "3600s", priority: "HIGH", collapse_key: "order-7", notification: { tag: "msg_1" } },
      },
    },
  ]);
  expect(service.asked).toEqual([
    {
      header: { alg: "RS256", typ: "JWT", kid: "key-1" },
      claims: {
        iss: service.account.clientEmail,
        aud: service.account.tokenUri,
        scope: "https://www.googleapis.com/auth/firebase.messaging",
        iat: start / 1000,
        exp: start / 1000 + 3600,
      },
    },
  ]);
});

test("one access token serves all messages until shortly before it expires", async () => {
  await Promise.all(Array.from({ length: 10 }, () => deliver()));
  now += 3_539_000;
  await deliver();
  expect(service.asked).toHaveLength(1);
  now += 2000;
  await deliver();
  expect(service.asked).toHaveLength(2);
  expect(service.received).toHaveLength(12);
});

test("a rejected access token is replaced for the next attempt", async () => {
  await deliver();
  service.revoke();
  expect(await deliver()).toMatchObject({ result: "failed" });
  expect(await deliver()).toEqual(sent);
  expect(service.asked).toHaveLength(2);
});

const detail = (errorCode: string, more: object[] = []) => ({
  error: {
    status: "SOME",
    message: "device:token",
    details: [{ "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", errorCode }, ...more],
  },
});
const ofField = (field: string) => [
  { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [{ field, description: "device:token" }] },
];
const account = (error: string) => ({
  status: null,
  error: `Google rejects the account (${error}): check BODEGA_FCM_CREDENTIALS`,
});
for (const [what, answer, expected] of [
  [
    "a device that is gone",
    { status: 404, body: detail("UNREGISTERED") },
    { status: 404, isGone: true, error: "404 UNREGISTERED" },
  ],
  [
    "an invalid token",
    { status: 400, body: detail("INVALID_ARGUMENT", ofField("message.token")) },
    { status: 400, isGone: true, error: "400 INVALID_ARGUMENT" },
  ],
  [
    "an invalid message",
    { status: 400, body: detail("INVALID_ARGUMENT", ofField("message.data")) },
    { status: 400, error: "400 INVALID_ARGUMENT" },
  ],
  [
    "a device of another project",
    { status: 403, body: detail("SENDER_ID_MISMATCH") },
    { status: 403, error: "403 SENDER_ID_MISMATCH" },
  ],
  [
    "an account that may not send",
    { status: 403, body: { error: { status: "PERMISSION_DENIED" } } },
    account("403 PERMISSION_DENIED"),
  ],
  ["a project that is not there", { status: 404, body: { error: { status: "NOT_FOUND" } } }, account("404 NOT_FOUND")],
  [
    "too many",
    { status: 429, body: detail("QUOTA_EXCEEDED"), headers: { "retry-after": "30" } },
    { status: 429, retryAfterMs: 30_000, error: "429 QUOTA_EXCEEDED" },
  ],
  [
    "trouble there",
    { status: 503, body: {}, headers: { "retry-after": "5" } },
    { status: 503, retryAfterMs: 5000, error: "503" },
  ],
  ["a redirect", { status: 302, headers: { location: "https://127.0.0.1:9/" } }, { status: 302, error: "302" }],
] as const satisfies [string, FcmService["answers"][number], Partial<Answer>][]) {
  test(`${what} is explained, without the token`, async () => {
    service.answers.push(answer);
    expect(await deliver()).toMatchObject({ retryAfterMs: 0, isGone: false, ...expected });
  });
}

test("while the account is rejected, messages wait, and the error does not contain the account's key", async () => {
  service.tokenAnswers.push({
    status: 400,
    body: { error: "invalid_grant", error_description: service.account.privateKey },
  });
  expect(await deliver()).toMatchObject({
    status: null,
    retryAfterMs: 0,
    isGone: false,
    error: "Google rejects the account (400 invalid_grant): check BODEGA_FCM_CREDENTIALS",
  });
  service.tokenAnswers.push({ status: 503, body: {} });
  expect((await deliver()).status).toBeNull();
  service.tokenAnswers.push({ status: 200, body: { access_token: 7 } });
  expect((await deliver()).error).toContain("Google rejects the account (200)");
  expect(await deliver()).toEqual(sent);
});

test("nothing is sent to a server with an untrusted certificate", async () => {
  const stranger = await startFcmService();
  const wary = createFcmProvider(stranger.account, { now: () => now, origin: stranger.origin });
  expect(await attemptPush(wary, target, payload)).toMatchObject({ status: null });
  expect([stranger.asked, stranger.received]).toEqual([[], []]);
  await stranger.close();
});
