import { expect, test } from "bun:test";
import { goodPassword, otherPassword } from "../../support/account.ts";
import type { ApiReply } from "../../support/client.ts";
import { newAddress } from "../../support/client.ts";
import { readOutbox } from "../../support/mail.ts";
import { type ApiScenario, runScenarios } from "../../support/scenarios.ts";
import { onDatabase } from "../../support/suite.ts";

const forgot = "POST /auth/password/forgot/";
const reset = "POST /auth/password/reset/";
const email = "ada@example.com";
const good = { email, code: "012345", password: otherPassword };

/** A call without credentials, from a new address. */
const send = (body: unknown, more = {}) => ({ body, auth: null, address: newAddress(), ...more });

const scenarios: ApiScenario[] = [
  {
    name: "forgot accepts an address",
    request: forgot,
    send: () => send({ email }),
    expect: 200,
    check: ({ data }: ApiReply) => expect(data).toEqual({ accepted: true }),
  },
  { name: "forgot accepts a language", request: forgot, send: () => send({ email, language: "pt-br" }), expect: 200 },
  { name: "forgot accepts what is no address", request: forgot, send: () => send({ email: "nobody" }), expect: 200 },
  { name: "forgot without email is 5102", request: forgot, send: () => send({}), expect: 5102, fields: ["email"] },
  {
    name: "forgot with an endless email is 5102",
    request: forgot,
    send: () => send({ email: `${"a".repeat(400)}@example.com` }),
    expect: 5102,
    fields: ["email"],
  },
  {
    name: "forgot with what is no language is 5102",
    request: forgot,
    send: () => send({ email, language: "not a language" }),
    expect: 5102,
    fields: ["language"],
  },
  {
    name: "forgot with an unknown field is 5102",
    request: forgot,
    send: () => send({ email, password: goodPassword }),
    expect: 5102,
    fields: ["password"],
    lacks: [goodPassword],
  },
  { name: "forgot without a body is 5102", request: forgot, send: () => send(undefined), expect: 5102 },
  { name: "reset with a code that was never sent is 5216", request: reset, send: () => send(good), expect: 5216 },
  {
    name: "reset of what is no address is 5216",
    request: reset,
    send: () => send({ ...good, email: "x" }),
    expect: 5216,
  },
  {
    name: "reset without any field is 5102 and names all",
    request: reset,
    send: () => send({}),
    expect: 5102,
    fields: ["code", "email", "password"],
  },
  {
    name: "reset with a number as code is 5102, since zeros at its beginning would be lost",
    request: reset,
    send: () => send({ ...good, code: 123456 }),
    expect: 5102,
    fields: ["code"],
    lacks: [otherPassword],
  },
  {
    name: "reset with anything but six digits is 5216, like a wrong code",
    request: reset,
    send: () => send({ ...good, code: "12345" }),
    expect: 5216,
  },
  {
    name: "reset with an endless code is 5102",
    request: reset,
    send: () => send({ ...good, code: "1".repeat(65) }),
    expect: 5102,
    fields: ["code"],
  },
  {
    name: "reset with an endless password is 5102",
    request: reset,
    send: () => send({ ...good, password: "Aa1!".repeat(300) }),
    expect: 5102,
    fields: ["password"],
  },
];

onDatabase("file", (suite) => {
  runScenarios(suite, scenarios);

  test("credentials sent with either are ignored", async () => {
    const [shop, other] = [await suite.shop(), await suite.shop()];
    const query = { user_id: "usr_gone", token: "v2.gone" };
    for (const more of [{ auth: other.auth }, { query }, { auth: "Bearer x:y", query }]) {
      expect((await shop.call(forgot, send({ email }, more))).status).toBe(200);
      expect((await shop.call(reset, send(good, more))).code).toBe(5216);
    }
  });

  test("an invalid address writes nothing", async () => {
    const shop = await suite.shop();
    for (const text of ["nobody", "a@b", "@example.com", "a b@example.com", "a@example..com", "\u0000@example.com"]) {
      expect((await shop.call(forgot, send({ email: text }))).data).toEqual({ accepted: true });
    }
    expect(await readOutbox(suite.app, shop.namespace)).toEqual([]);
  });

  test("the eleventh call of a minute from one address is 5209, even if it is valid", async () => {
    const shop = await suite.shop();
    const address = newAddress();
    const codes: (number | undefined)[] = [];
    for (let n = 0; n < 12; n++) {
      const call = n % 2 ? shop.call(reset, send(good, { address })) : shop.call(forgot, send({ email }, { address }));
      codes.push((await call).code);
    }
    expect(codes.slice(10)).toEqual([5209, 5209]);
    expect(codes.slice(0, 10)).not.toContain(5209);
  });
});
