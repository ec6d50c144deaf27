import { expect } from "bun:test";
import { issueCode } from "../../../src/server/modules/mail-codes/service.ts";
import { goodPassword, openAccount, otherPassword } from "../../support/account.ts";
import { type ApiReply, newAddress } from "../../support/client.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { readOutbox } from "../../support/mail.ts";
import {
  forgot,
  hasPassword,
  openAccountWithCode,
  otherCode,
  requestCode,
  reset,
} from "../../support/password-reset.ts";
import { onDatabase } from "../../support/suite.ts";

const minute = 60_000;
const day = 24 * 60 * minute;
const codeOf = ({ code }: ApiReply) => code;
const retryAfter = ({ headers }: ApiReply) => Number(headers.get("retry-after"));

/** Returns a function that tries codes from one address. */
const resetFrom =
  (address: string): typeof reset =>
  (shop, email, code, password = otherPassword) =>
    shop.callAnonymously("POST /auth/password/reset/", { body: { email, code, password }, address });

onDatabase("file", (suite) => {
  const { test } = suite;
  /** Makes five wrong tries at an account's code. Returns the codes of the replies. */
  async function spendTries(shop: Shop, email: string, wrong: string, send = reset): Promise<(number | undefined)[]> {
    const codes: (number | undefined)[] = [];
    for (let n = 0; n < 5; n++) codes.push(codeOf(await send(shop, email, wrong)));
    return codes;
  }

  /** Makes five wrong tries at each of several new codes, which are not mailed. */
  async function spendCodes(shop: Shop, email: string, codes: number, send: () => typeof reset): Promise<void> {
    const ctx = await tenantContext(shop);
    for (let n = 0; n < codes; n++) {
      const { code } = await issueCode(ctx, { purpose: "reset", subject: email });
      suite.app.clock.advance(minute);
      expect(await spendTries(shop, email, otherCode(code), send())).toEqual(Array(5).fill(5216));
    }
  }

  test("five wrong tries lock the code until it expires: even the right code gets 5213", async () => {
    const { shop, account, email, code, wrong } = await openAccountWithCode(suite);
    suite.app.clock.advance(minute);
    expect(await spendTries(shop, email, wrong)).toEqual([5216, 5216, 5216, 5216, 5216]);
    const locked = await reset(shop, email, wrong);
    expect([locked.code, retryAfter(locked)]).toEqual([5213, 14 * 60]);
    suite.app.clock.advance(500);
    const right = await reset(shop, email, code);
    expect([right.code, retryAfter(right)]).toEqual([5213, 14 * 60]);
    suite.app.clock.advance(14 * minute - 501);
    expect(codeOf(await reset(shop, email, code))).toBe(5213);
    suite.app.clock.advance(1);
    expect(codeOf(await reset(shop, email, code))).toBe(5216);
    expect(await hasPassword(shop, account.id, goodPassword)).toBe(true);
  });

  /** Requests a code from an address. Returns whether it was mailed. */
  async function isMailed(shop: Shop, email: string, address: string): Promise<boolean> {
    const count = async () => (await readOutbox(suite.app, shop.namespace)).length;
    const before = await count();
    const { status, text } = await shop.callAnonymously("POST /auth/password/forgot/", { body: { email }, address });
    expect([status, text]).toEqual([200, expect.stringContaining('"accepted":true')]);
    return (await count()) > before;
  }

  test("a new code is accepted after any number of wrong tries, even from the address of these tries", async () => {
    const { shop, account, email } = await openAccountWithCode(suite);
    const send = resetFrom(newAddress());
    await spendCodes(shop, email, 13, () => send);
    suite.app.clock.advance(60 * minute);
    expect((await send(shop, email, await requestCode(shop, email))).status).toBe(200);
    expect(await hasPassword(shop, account.id, goodPassword)).toBe(false);
  });

  test("after fifteen wrong tries in 24 hours, the IP addresses of these tries get one code an hour, and others are not limited", async () => {
    const { shop, email } = await openAccountWithCode(suite);
    const addresses = [newAddress(), newAddress()] as const;
    for (const address of [...addresses, addresses[0]]) {
      suite.app.clock.advance(30 * minute);
      expect(await isMailed(shop, email, address)).toBe(true);
      await spendCodes(shop, email, 1, () => resetFrom(address));
    }
    suite.app.clock.advance(30 * minute);
    expect(await isMailed(shop, email, addresses[0])).toBe(true);
    suite.app.clock.advance(60 * minute - 1);
    for (const address of addresses) expect(await isMailed(shop, email, address)).toBe(false);
    expect(await isMailed(shop, email, newAddress())).toBe(true);
    suite.app.clock.advance(1);
    expect(await isMailed(shop, email, addresses[1])).toBe(true);
    expect(await isMailed(shop, email, addresses[0])).toBe(false);
    suite.app.clock.advance(day);
    for (const address of addresses) expect(await isMailed(shop, email, address)).toBe(true);
  });

  test("after sixty wrong tries in 24 hours, an account gets only one code an hour", async () => {
    const { shop, email } = await openAccountWithCode(suite);
    const elsewhere = await openAccount(shop);
    await spendCodes(shop, email, 12, () => resetFrom(newAddress()));
    suite.app.clock.advance(60 * minute);
    expect(await isMailed(shop, email, newAddress())).toBe(true);
    suite.app.clock.advance(60 * minute - 1);
    expect(await isMailed(shop, email, newAddress())).toBe(false);
    expect(await isMailed(shop, elsewhere.email, newAddress())).toBe(true);
    suite.app.clock.advance(1);
    expect((await reset(shop, email, await requestCode(shop, email))).status).toBe(200);
  });

  test("tries without an issued code, or with a used, expired or locked code, do not count", async () => {
    const { shop, email, code, wrong } = await openAccountWithCode(suite);
    const send = resetFrom(newAddress());
    const sendSix = async (given: string, expected: number, to = email) => {
      suite.app.clock.advance(minute);
      for (let n = 0; n < 6; n++) expect(codeOf(await send(shop, to, given))).toBe(expected);
    };
    await send(shop, email, code);
    await sendSix(wrong, 5216);
    const second = await requestCode(shop, email);
    suite.app.clock.advance(15 * minute);
    await sendSix(second, 5216);
    await sendSix(wrong, 5216, "else@example.com");
    suite.app.clock.advance(20 * minute);
    const third = otherCode(await requestCode(shop, email));
    await spendTries(shop, email, third, send);
    await sendSix(third, 5213);
    expect((await send(shop, email, await requestCode(shop, email))).status).toBe(200);
  });

  test("an address without a user gets the same replies as a user's address at each step", async (shop) => {
    const account = await openAccount(shop);
    const transcripts: unknown[] = [];
    for (const email of [account.email, "nobody-at-all@example.com"]) {
      const replies: ApiReply[] = [await reset(shop, email, "000000")];
      replies.push(await forgot(shop, email));
      const wrong = otherCode((await readOutbox(suite.app, shop.namespace)).at(-1)?.values?.code as string);
      for (let n = 0; n < 7; n++) replies.push(await reset(shop, email, wrong));
      replies.push(await reset(shop, email, wrong, "weak"), await forgot(shop, email));
      for (let n = 0; n < 2; n++) replies.push(await reset(shop, email, "not it"));
      transcripts.push(
        replies.map(({ status, text, requestId, headers }) => [
          status,
          text.replace(requestId, ""),
          headers.get("retry-after"),
          [...headers.keys()].filter((name) => name !== "date"),
        ]),
      );
    }
    expect(transcripts[0]).toEqual(transcripts[1]);
  });

  test("a wrong try is recorded in the audit log with its user, without the sent code", async () => {
    const { shop, account, email, wrong } = await openAccountWithCode(suite);
    await reset(shop, email, wrong);
    const { rows } = await suite.app.db.execute({
      sql: "select * from audit_log where namespace = ? and event = 'password.reset_failed'",
      args: [shop.namespace],
    });
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ subject: account.id, code: 5216, details: null });
    expect(JSON.stringify(rows)).not.toContain(wrong);
  });
});
