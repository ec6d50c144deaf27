import { expect } from "bun:test";
import { goodPassword, otherPassword } from "../../support/account.ts";
import type { ApiReply } from "../../support/client.ts";
import { newAddress } from "../../support/client.ts";
import { readOutbox } from "../../support/mail.ts";
import { type ApiScenario, runScenarios, scenariosOf } from "../../support/scenarios.ts";
import { onDatabase } from "../../support/suite.ts";

const forgot = "POST /auth/password/forgot/";
const reset = "POST /auth/password/reset/";
const email = "ada@example.com";
const good = { email, code: "012345", password: otherPassword };

/** A call without credentials, from a new address. */
const send = (body: unknown, more = {}) => ({ body, auth: null, address: newAddress(), ...more });

const scenarios: ApiScenario[] = [
  ...scenariosOf(forgot, [
    [
      "forgot accepts an address",
      () => send({ email }),
      200,
      { check: ({ data }: ApiReply) => expect(data).toEqual({ accepted: true }) },
    ],
    ["forgot accepts a language", () => send({ email, language: "pt-br" }), 200],
    ["forgot accepts what is no address", () => send({ email: "nobody" }), 200],
    ["forgot without email is 5102", () => send({}), 5102, "email"],
    ["forgot with an endless email is 5102", () => send({ email: `${"a".repeat(400)}@example.com` }), 5102, "email"],
    ["forgot with what is no language is 5102", () => send({ email, language: "not a language" }), 5102, "language"],
    [
      "forgot with an unknown field is 5102",
      () => send({ email, password: goodPassword }),
      5102,
      "password",
      { lacks: [goodPassword] },
    ],
    ["forgot without a body is 5102", () => send(undefined), 5102],
  ]),
  ...scenariosOf(reset, [
    ["reset with a code that was never sent is 5216", () => send(good), 5216],
    ["reset of what is no address is 5216", () => send({ ...good, email: "x" }), 5216],
    ["reset without any field is 5102 and names all", () => send({}), 5102, ["code", "email", "password"]],
    [
      "reset with a number as code is 5102, since zeros at its beginning would be lost",
      () => send({ ...good, code: 123456 }),
      5102,
      "code",
      { lacks: [otherPassword] },
    ],
    ["reset with anything but six digits is 5216, like a wrong code", () => send({ ...good, code: "12345" }), 5216],
    ["reset with an endless code is 5102", () => send({ ...good, code: "1".repeat(65) }), 5102, "code"],
    ["reset with an endless password is 5102", () => send({ ...good, password: "Aa1!".repeat(300) }), 5102, "password"],
  ]),
];

onDatabase("file", (suite) => {
  const { test } = suite;
  runScenarios(suite, scenarios);

  test("credentials sent with either are ignored", async () => {
    const [shop, other] = [await suite.shop(), await suite.shop()];
    const query = { user_id: "usr_gone", token: "v2.gone" };
    for (const more of [{ auth: other.auth }, { query }, { auth: "Bearer x:y", query }]) {
      expect((await shop.call(forgot, send({ email }, more))).status).toBe(200);
      expect((await shop.call(reset, send(good, more))).code).toBe(5216);
    }
  });

  test("an invalid address writes nothing", async (shop) => {
    for (const text of ["nobody", "a@b", "@example.com", "a b@example.com", "a@example..com", "\u0000@example.com"]) {
      expect((await shop.call(forgot, send({ email: text }))).data).toEqual({ accepted: true });
    }
    expect(await readOutbox(suite.app, shop.namespace)).toEqual([]);
  });

  test("the eleventh call of a minute from one address is 5209, even if it is valid", async (shop) => {
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
