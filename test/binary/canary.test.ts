import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { IssuedKey } from "../support/binary.ts";
import type { ApiReply, CallOptions } from "../support/client.ts";
import { findInFiles } from "../support/find-in-files.ts";
import { newAppleToken, newSubscription, registerWith } from "../support/registrations.ts";
import { type ServedShop, type ServedUser, useServedShops } from "../support/served-shop.ts";

const { startServedShop } = useServedShops();

const passwords = {
  first: "Canary-First-Kettle-4871",
  second: "Canary-Second-Kettle-4871",
  third: "Canary-Third-Kettle-4871",
  fromTerminal: "Canary-Terminal-Kettle-4871",
  wrong: "Canary-Wrong-Kettle-4871",
  weak: "canary-weak",
};

describe("a run that sends every kind of secret in every place, first with a JSON log, then with a text log", () => {
  let shop: ServedShop;
  /** Long secrets, which cannot occur anywhere by chance. */
  const secrets = new Set<string>(Object.values(passwords));
  /** Codes of six digits, which can occur by chance inside hashes. */
  const codes = new Set<string>();
  /** All error replies of the server, and the output of commands. */
  const errors: string[] = [];
  const printed: string[] = [];
  /** The output of both servers. */
  const logs: string[] = [];
  const announcements: string[] = [];
  /** What was found in the data directory while a server still ran. */
  let running: { hasWal: boolean; found: string[]; copy: string };
  /** A recovery code that is used at the second server. */
  let spare: string;

  async function send<T = Record<string, unknown>>(request: string, options: CallOptions = {}): Promise<ApiReply<T>> {
    const reply = await shop.callAnonymously<T>(request, options);
    if (reply.status >= 400) errors.push(reply.text);
    return reply;
  }

  async function command(input: string, ...args: string[]): Promise<void> {
    const { stdout, stderr } = await shop.binary.feed(input, ...args);
    printed.push(stdout, stderr);
  }

  /** Records issued secrets, for which the tests search later. */
  function keep(...given: string[]): void {
    for (const secret of given) secrets.add(secret);
  }

  beforeAll(async () => {
    const flags = ["--trusted-proxy", "127.0.0.1/32", "--log"];
    shop = await startServedShop({ workers: 2, flags: [...flags, "json"] });
    keep(shop.key.app_secret);
    const user = await liveThrough();
    await useDevices();
    await misuseEverything();
    const first = shop.server;
    shop = await shop.restart({ workers: 1, flags: [...flags, "text"] });
    // The wrong passwords have locked the account for this time.
    shop.clock.advance(20 * 60_000);
    keep((await shop.signIn(user, { otp: spare })).token);
    // Both log formats print the same entry, so a seventh of the requests is enough. Seven is prime, so all kinds of
    // requests occur.
    await misuseEverything(7);
    await useTerminal();
    running = inspectRunning();
    expect([await first.exited, await shop.server.end()]).toEqual([0, 0]);
    for (const server of [first, shop.server]) {
      logs.push(server.log());
      announcements.push(server.stdout());
    }
  }, 120_000);

  /** Uses every feature of a user account, with right and with wrong values. */
  async function liveThrough(): Promise<ServedUser> {
    const email = "canary@example.com";
    const { id } = (
      await send<{ id: string }>("POST /users/", { auth: shop.auth, body: { email, password: passwords.first } })
    ).data;
    const user = { id, email, password: passwords.first, login: { email, password: passwords.first } };
    const { token } = await shop.signIn(user);
    const query = { user_id: id, token };
    keep(token);

    const begun = await send<{ secret: string }>("POST /users/me/two-factor/", {
      query,
      body: { password: passwords.first },
    });
    keep(begun.data.secret);
    const otpAt = authenticatorOf(begun.data.secret);
    const confirmed = await send<{ recovery_codes: string[] }>("POST /users/me/two-factor/confirm/", {
      query,
      body: { otp: otpAt() },
    });
    keep(...confirmed.data.recovery_codes);
    const [recovery = ""] = confirmed.data.recovery_codes;
    spare = confirmed.data.recovery_codes[1] as string;

    await send("POST /auth/login/", { body: { email, password: passwords.wrong, otp: otpAt() } });
    await send("POST /auth/login/", { body: { email, password: passwords.first } });
    await send("POST /auth/login/", { body: { email, password: passwords.first, otp: otpAt() } });
    shop.clock.advance(30_000);
    const again = await shop.signIn(user, { otp: otpAt() });
    const byRecovery = await shop.signIn(user, { otp: recovery });
    await send("POST /auth/login/", { body: { email, password: passwords.first, otp: recovery } });
    keep(again.token, byRecovery.token);

    const now = { user_id: id, token: byRecovery.token };
    const refreshed = await send<{ token: string }>("POST /auth/refresh/", { query: now });
    await send("POST /auth/refresh/", { query: now });
    keep(refreshed.data.token);
    const current = { user_id: id, token: refreshed.data.token };
    await send("POST /users/me/password/", {
      query: current,
      body: { current_password: passwords.wrong, password: passwords.second },
    });
    await send("POST /users/me/password/", {
      query: current,
      body: { current_password: passwords.first, password: passwords.weak },
    });
    const changed = await send<{ token: string }>("POST /users/me/password/", {
      query: current,
      body: { current_password: passwords.first, password: passwords.second },
    });
    keep(changed.data.token);
    await send("POST /auth/logout/", { query: { user_id: id, token: changed.data.token } });
    await send("POST /auth/logout/", { query: { user_id: id, token: changed.data.token } });

    shop.clock.advance(20 * 60_000);
    const code = await shop.requestCode({ email });
    codes.add(code);
    const wrongCode = code === "000000" ? "000001" : "000000";
    await send("POST /auth/password/reset/", { body: { email, code: wrongCode, password: passwords.third } });
    await send("POST /auth/password/reset/", { body: { email, code, password: passwords.weak } });
    await send("POST /auth/password/reset/", { body: { email, code, password: passwords.third } });
    await send("POST /auth/password/reset/", { body: { email, code, password: passwords.third } });
    // This code is never used, so the database always contains an open code.
    codes.add(await shop.requestCode({ email }));
    return { ...user, password: passwords.third };

    function authenticatorOf(secret: string) {
      return () => {
        const otp = shop.totp(secret);
        codes.add(otp);
        return otp;
      };
    }
  }

  /** Registers a browser and a phone, and sends wrong values for each. */
  async function useDevices(): Promise<void> {
    const subscription = newSubscription();
    const { endpoint, keys } = subscription;
    const phone = { platform: "ios", token: newAppleToken() };
    keep(endpoint, keys.p256dh, keys.auth, phone.token);
    for (const device of [{ platform: "web", subscription }, phone]) {
      const { id, management_secret } = await registerWith(shop.callAnonymously, { ...device, topics: ["sale"] });
      const anew = await registerWith(shop.callAnonymously, device);
      keep(management_secret, anew.management_secret);
      const own = `/notifications/register/${id}/`;
      await send(`PATCH ${own}`, { body: { management_secret, topics: ["sale"] } });
      await send(`PATCH ${own}`, { body: { management_secret: anew.management_secret, ...phone } });
      await send(`DELETE ${own}`, { query: { management_secret } });
      await send("POST /notifications/register/", { body: { ...device, platform: "android" } });
    }
    const other = newSubscription(endpoint);
    keep(other.keys.p256dh, other.keys.auth);
    await send("POST /notifications/register/", { body: { platform: "web", subscription: other } });
  }

  /** Sends every secret in every place of every request. With `every`, sends only each n-th of these requests. */
  async function misuseEverything(every = 1): Promise<void> {
    const all = [...secrets, ...codes];
    const names = `password current_password token otp code app_secret password_hash secret management_secret`.split(
      /\s+/,
    );
    const { document } = await shop.description();
    let turn = 0;
    let requests = 0;
    const next = () => all[turn++ % all.length] as string;
    for (const [template, operations] of Object.entries(document.paths)) {
      // The reply of this route is a file, without the JSON envelope.
      if (template === "/media/{id}/{file}") continue;
      for (const name of Object.keys(operations)) {
        const request = `${name.toUpperCase()} ${template.replace(/\{\w+\}/g, "x")}`;
        const fields = () => Object.fromEntries(names.map((field) => [field, next()]));
        const nested = () => Object.fromEntries(names.map((field) => [field, [{ [field]: next() }]]));
        const identity = { user_id: "usr_1", app_id: shop.key.app_id };
        const attempts: CallOptions[] = [
          { body: fields() },
          { body: nested() },
          { body: { ...fields(), email: "canary@example.com" }, auth: shop.auth },
          { body: { ...nested(), ...identity } },
          { raw: `{"password": "${next()}", ${next()}` },
          { raw: next(), headers: { "content-type": "text/plain" } },
          { query: { ...fields(), ...identity } },
          { auth: `Bearer ${shop.key.app_id}:${next()}` },
          { auth: `Basic ${btoa(`x:${next()}`)}` },
          { query: { user_id: "usr_1", token: next() } },
          { query: `cursor=${next()}&sort=${next()}`, auth: shop.auth },
        ];
        for (const options of attempts) {
          if (name === "get" && ("body" in options || "raw" in options)) continue;
          if (requests++ % every > 0) continue;
          // An error may repeat an unknown cursor or sort order, because nobody types a password there.
          const told = await shop.callAnonymously(request, options);
          if (told.status >= 400 && !String(options.query).startsWith("cursor")) errors.push(told.text);
        }
      }
    }
  }

  async function useTerminal(): Promise<void> {
    const { namespace } = shop;
    const user = ["-n", namespace, "--email", "terminal@example.com"];
    await command(`${passwords.fromTerminal}\n`, "user", "create", ...user, "--password-stdin");
    await command(`${passwords.fromTerminal}\n`, "user", "create", ...user, "--password-stdin", "--json");
    await command(
      `${passwords.weak}\n`,
      "user",
      "set-password",
      "terminal@example.com",
      "-n",
      namespace,
      "--password-stdin",
    );
    await command(
      `${passwords.first}\n`,
      "user",
      "set-password",
      "terminal@example.com",
      "-n",
      namespace,
      "--password-stdin",
    );
    const rotated = await shop.binary.json<IssuedKey>("key", "rotate", shop.key.app_id, "--overlap", "24h");
    keep(rotated.app_secret);
    for (const verb of [
      ["token", "list"],
      ["user", "list"],
      ["mail", "list"],
      ["audit", "list"],
    ]) {
      for (const form of [[], ["--json"]]) await command("", ...verb, "-n", namespace, ...form);
    }
    await command("", "audit", "list", "--json", "--limit", "1000");
    await command("", "user", "reset-two-factor", "canary@example.com", "-n", namespace, "--yes");
  }

  function inspectRunning(): typeof running {
    // Opens a copy, because two SQLite libraries in one process must not open the same file.
    const copy = join(shop.binary.dir, "copy.db");
    const hasWal = existsSync(join(shop.dataDir, "bodega.db-wal"));
    const found = findInFiles(shop.dataDir, [...secrets]);
    for (const suffix of ["", "-wal"]) copyFileSync(join(shop.dataDir, `bodega.db${suffix}`), `${copy}${suffix}`);
    return { hasWal, found, copy };
  }

  /** Returns the secrets in a text, and the codes that are not part of longer numbers. */
  function secretsIn(text: string): string[] {
    const standing = (text.match(/(?<![0-9A-Za-z_-])\d{6}(?![0-9A-Za-z_-])/g) ?? []).filter((code) => codes.has(code));
    return [...[...secrets].filter((secret) => text.includes(secret)), ...standing];
  }

  test("the run used all kinds of secrets: passwords, tokens, one-time codes, recovery codes, reset codes, app secrets", () => {
    expect(secrets.size).toBeGreaterThan(20);
    expect(codes.size).toBeGreaterThanOrEqual(4);
    expect(errors.length).toBeGreaterThan(100);
    for (const log of logs) expect(log).toContain("/auth/login/");
  });

  test("no error reply contains a secret", () => {
    expect(errors.flatMap(secretsIn)).toEqual([]);
  });

  test("no command prints a secret, and the audit log contains none", () => {
    expect(printed.join("")).toContain("login.failed");
    expect(printed.flatMap(secretsIn)).toEqual([]);
  });

  test("no file of the data directory contains a secret while the server runs", () => {
    expect({ hasWal: running.hasWal, found: running.found }).toEqual({ hasWal: true, found: [] });
  });

  test("no value in the database contains a secret", () => {
    const db = new Database(running.copy);
    const tables = db.query<{ name: string }, []>("select name from sqlite_master where type = 'table'").all();
    const found: string[] = [];
    for (const { name } of tables) {
      for (const row of db.query<Record<string, unknown>, []>(`select * from "${name}"`).all()) {
        for (const [column, value] of Object.entries(row)) {
          const text = value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value);
          for (const secret of secretsIn(text)) found.push(`${name}.${column}: ${secret}`);
        }
      }
    }
    db.close();
    expect(tables.length).toBeGreaterThan(8);
    expect(found).toEqual([]);
  });

  test("neither a log nor any file contains a secret after the servers have stopped", () => {
    expect([...logs, ...announcements].flatMap(secretsIn)).toEqual([]);
    expect(findInFiles(shop.dataDir, [...secrets])).toEqual([]);
  });
});
