import { beforeAll, describe, expect, test } from "bun:test";
import type { ApiReply, CallOptions } from "../support/client.ts";
import { newAddress } from "../support/client.ts";
import { type ServedShop, type ServedUser, type Session, useServedShops } from "../support/served-shop.ts";

const { startServedShop } = useServedShops();
const strong = "Another-Kettle-9026";

let shop: ServedShop;
let user: ServedUser;
let session: Session;
beforeAll(async () => {
  shop = await startServedShop();
  user = await shop.createUser();
  session = await shop.signIn(user);
});

const read = (options: CallOptions) => shop.callAnonymously("GET /products/", options);
const auth = (path: string, body?: unknown, query: Record<string, string> = {}) =>
  shop.callAnonymously(`POST /auth/${path}/`, { body, query });
const bearer = (app_id: string, app_secret: string) => ({ auth: `Bearer ${app_id}:${app_secret}` });
const repeat = async (times: number, work: () => Promise<ApiReply>) => {
  const replies: ApiReply[] = [];
  for (let n = 0; n < times; n++) replies.push(await work());
  return replies.at(-1) as ApiReply;
};

/** A row of the table of errors: code, status, meaning, words of the remedy, and calls that return it. */
interface ErrorRow {
  code: number;
  status: number;
  meaning: string;
  remedy: RegExp | undefined;
  causes: Record<string, () => Promise<ApiReply>>;
}

const rows: ErrorRow[] = [
  {
    code: 5202,
    status: 400,
    meaning: "invalid app credential params",
    remedy: /app_id.*app_secret.*namespace/,
    causes: {
      "app_id alone": () => read({ query: { app_id: shop.key.app_id } }),
      "no colon": () => read({ auth: "Bearer x" }),
      "no namespace": () => read({ auth: shop.auth, namespace: null }),
    },
  },
  {
    code: 5203,
    status: 401,
    meaning: "app auth failed, no match",
    remedy: /secret.*active.*published/,
    causes: {
      "a wrong secret": () => read(bearer(shop.key.app_id, `sk_${"A".repeat(43)}`)),
      "an unknown key": () => read(bearer("app_00000000000000000000000000", shop.key.app_secret)),
      "a key that is not published": async () => {
        const key = await shop.binary.json("key", "issue", "-n", shop.namespace, "--name", "draft");
        return read(bearer(String(key.app_id), String(key.app_secret)));
      },
    },
  },
  {
    code: 5204,
    status: 400,
    meaning: "invalid token params",
    remedy: /token.*user_id/,
    causes: {
      "user_id alone": () => read({ query: { user_id: user.id } }),
      "token alone": () => read({ query: { token: session.token } }),
      "no namespace": () => read({ namespace: null, query: { user_id: user.id, token: session.token } }),
    },
  },
  {
    code: 5205,
    status: 401,
    meaning: "token not found or mismatch",
    remedy: /token/,
    causes: {
      "a token that was never issued": () => read({ query: { user_id: user.id, token: `v2.${"A".repeat(43)}` } }),
      "another user's token": async () => {
        const other = await shop.createUser();
        return read({ query: { user_id: other.id, token: session.token } });
      },
    },
  },
  {
    code: 5206,
    status: 401,
    meaning: "general auth failed; no method succeeded",
    remedy: /\S/,
    causes: {
      "nothing sent": () => read({}),
      "two methods, both wrong": () => read({ auth: "Bearer x:y", query: { user_id: user.id, token: "v2.x" } }),
    },
  },
  {
    code: 5207,
    status: 401,
    meaning: "token expired or revoked",
    remedy: /[Rr]efresh/,
    causes: {
      "a token after logout": async () => {
        const { user_id, token } = await shop.signIn(await shop.createUser());
        await auth("logout", undefined, { user_id, token });
        return read({ query: { user_id, token } });
      },
    },
  },
  {
    code: 5209,
    status: 429,
    meaning: "rate limit exceeded on auth attempts",
    remedy: /\S/,
    causes: {
      "the eleventh call of /auth/ in a minute from one address": () => {
        const address = newAddress();
        const body = { email: "nobody@example.com" };
        return repeat(11, () => shop.callAnonymously("POST /auth/password/forgot/", { address, body }));
      },
    },
  },
  {
    code: 5211,
    status: 401,
    meaning: "two-factor code required",
    remedy: /otp/,
    causes: {
      "a login without otp": async () => {
        const guarded = await shop.createUser();
        await shop.enrol(guarded);
        return auth("login", guarded.login);
      },
    },
  },
  {
    code: 5212,
    status: 401,
    meaning: "invalid credentials (email, password or one-time code)",
    remedy: undefined,
    causes: {
      "a wrong password": async () => auth("login", { ...(await shop.createUser()).login, password: "wrong" }),
    },
  },
  {
    code: 5213,
    status: 429,
    meaning: "too many sign-in attempts, or too many wrong reset codes",
    remedy: /Wait.*new code/,
    causes: {
      "the fourth wrong password": async () => {
        const { email } = await shop.createUser();
        return repeat(4, () => auth("login", { email, password: "wrong" }));
      },
      "the sixth wrong reset code": async () => {
        const { email } = await shop.createUser();
        const right = await shop.requestCode({ email });
        const code = right === "000000" ? "000001" : "000000";
        return repeat(6, () => auth("password/reset", { email, code, password: strong }));
      },
    },
  },
  {
    code: 5214,
    status: 401,
    meaning: "user token invalid, expired or revoked, returned by refresh and logout",
    remedy: /[Ll]og in/,
    causes: {
      refresh: () => auth("refresh", undefined, { user_id: user.id, token: "v2.x" }),
    },
  },
  {
    code: 5215,
    status: 404,
    meaning: "store not found",
    remedy: /namespace|operator/,
    causes: {
      "an unknown store": () => read({ namespace: "no-such-store", auth: shop.auth }),
      "a store that is suspended": async () => {
        await shop.binary.json("tenant", "create", "shut");
        await shop.binary.json("tenant", "suspend", "shut", "--yes");
        return read({ namespace: "shut", auth: shop.auth });
      },
    },
  },
  {
    code: 5216,
    status: 400,
    meaning: "reset code invalid, used or expired",
    remedy: /new code/,
    causes: {
      "no code issued": async () => {
        const { email } = await shop.createUser();
        return auth("password/reset", { email, code: "123456", password: strong });
      },
    },
  },
  {
    code: 5217,
    status: 422,
    meaning: "password too weak",
    remedy: /16 characters.*lowercase.*uppercase.*digit.*special/,
    causes: {
      "a short password": () => auth("password/reset", { email: user.email, code: "123456", password: "Short-1" }),
    },
  },
];

for (const { code, status, meaning, remedy, causes } of rows) {
  describe(`§7 ${code}: ${meaning}`, () => {
    for (const [cause, work] of Object.entries(causes)) {
      test(cause, async () => {
        const reply = await work();
        expect([reply.code, reply.status]).toEqual([code, status]);
        const { request_id, error } = JSON.parse(reply.text);
        expect([request_id, reply.headers.get("x-request-id")]).toEqual([reply.requestId, reply.requestId]);
        expect(error.code).toBe(code);
        expect(error.type).toMatch(/^[a-z]+(_[a-z]+)+$/);
        expect(error.message).toMatch(/\S/);
        if (remedy === undefined) expect(error.remedy).toBeUndefined();
        else expect(error.remedy).toMatch(remedy);
      });
    }
  });
}
