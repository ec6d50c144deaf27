import { afterAll, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../../src/server/errors.ts";
import { adoptSecret, claimDatabase, openVault } from "../../src/server/security/secret-key.ts";
import { createVault } from "../../src/server/security/vault.ts";
import { openTestDatabase, type TestDatabase } from "../support/backend.ts";
import { failureOf } from "../support/failure.ts";

const parent = mkdtempSync(join(tmpdir(), "bodega-secret-"));
const opened: TestDatabase[] = [];
let database: TestDatabase;
let dataDir: string;
const keyFile = () => join(dataDir, "secret.key");
const config = (secret?: string) => ({ secret, dataDir });
const given = "a secret from the environment, long enough";

beforeEach(async () => {
  database = await openTestDatabase("file");
  opened.push(database);
  dataDir = join(parent, `data-${opened.length}`);
});

afterAll(async () => {
  for (const one of opened) await one.close();
  rmSync(parent, { recursive: true, force: true });
});

async function claim(secret?: string): Promise<void> {
  await claimDatabase(database.db, await openVault(config(secret), database.db));
}

async function refusal(work: Promise<unknown> | (() => unknown)): Promise<{ code: number; message: string }> {
  const error = await failureOf(work);
  if (!(error instanceof AppError)) throw error;
  return { code: error.code, message: error.message };
}

test("the secret key file is created at the first use, readable only by its owner, and without temporary files", async () => {
  const vault = await openVault(config(), database.db);
  expect(existsSync(keyFile())).toBeFalse();
  const sealed = vault.seal("mail", "a", "x");
  expect(statSync(keyFile()).mode & 0o777).toBe(0o600);
  expect(readdirSync(dataDir).toSorted()).toEqual([".gitignore", "secret.key"]);
  expect(readFileSync(keyFile(), "utf8")).toMatch(/^[\w-]{43}\n$/);
  expect((await openVault(config(), database.db)).open("mail", "a", sealed)).toBe("x");
});

test("a secret key file that others can read is restricted to its owner", async () => {
  await claim();
  chmodSync(keyFile(), 0o644);
  await claim();
  expect(statSync(keyFile()).mode & 0o777).toBe(0o600);
});

test("processes that create the secret key at the same moment use the same key", async () => {
  const script = `
    import { createVault } from "${join(import.meta.dir, "../../src/server/security/vault.ts")}";
    import { openVault } from "${join(import.meta.dir, "../../src/server/security/secret-key.ts")}";
    const db = { execute: async () => ({ rows: [] }) };
    console.log((await openVault({ secret: undefined, dataDir: ${JSON.stringify(dataDir)} }, db)).fingerprint());`;
  const children = Array.from({ length: 3 }, () => Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" }));
  const prints = await Promise.all(children.map((child) => new Response(child.stdout).text()));
  expect(prints[0]).toMatch(/^[0-9a-f]{32}\n$/);
  expect(new Set(prints).size).toBe(1);
});

test("a secret key in the environment is used, and no file is created", async () => {
  await claim(given);
  await claim(given);
  expect(existsSync(keyFile())).toBeFalse();
});

test("a database refuses another secret key until it adopts this key", async () => {
  await claim(given);
  const other = "another secret from the environment, as long";
  expect(await refusal(claim(other))).toMatchObject({ code: 5306 });
  const vault = await openVault(config(other), database.db);
  expect(await refusal(() => vault.seal("mail", "a", "x"))).toMatchObject({ code: 5306 });
  await adoptSecret(database.db, config(other));
  await claim(other);
  expect(await refusal(claim(given))).toMatchObject({ code: 5306 });
});

test("if two servers claim a new database at once with different keys, one is refused", async () => {
  const vaults = [await openVault(config(given), database.db), await openVault(config(`${given}, other`), database.db)];
  const outcomes = await Promise.allSettled(vaults.map((vault) => claimDatabase(database.db, vault)));
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

test("a missing secret key file is not replaced while the database needs the key", async () => {
  await claim();
  rmSync(keyFile());
  expect(await refusal(claim())).toMatchObject({ code: 5306, message: expect.stringContaining("is missing") });
  expect(existsSync(keyFile())).toBeFalse();
  await adoptSecret(database.db, config());
  await claim();
  expect(existsSync(keyFile())).toBeTrue();
});

test("an empty secret key file is refused, and not changed", async () => {
  await claim();
  writeFileSync(keyFile(), "\n");
  expect(await refusal(claim())).toMatchObject({ code: 5306, message: expect.stringContaining("has no valid secret") });
  expect(readFileSync(keyFile(), "utf8")).toBe("\n");
});

test("a secret key file in a directory that is not writable causes an error", async () => {
  const closed = join(parent, `closed-${opened.length}`);
  writeFileSync(closed, "a file where a directory should be");
  chmodSync(closed, 0o400);
  dataDir = closed;
  expect(await refusal(claim())).toMatchObject({ code: 5001, message: expect.stringContaining("secret.key") });
});

const vault = createVault(() => "one secret of sufficient length, it is");
const other = createVault(() => "another secret of sufficient length, too");

test("a sealed value can be opened with the same key, purpose and place", () => {
  const sealed = vault.seal("mail", "mail_1", "Grüße, 世界");
  expect(createVault(() => "one secret of sufficient length, it is").open("mail", "mail_1", sealed)).toBe(
    "Grüße, 世界",
  );
});

test("sealing twice gives different texts, neither of which contains the plain text", () => {
  const [one, two] = [vault.seal("mail", "a", "hello"), vault.seal("mail", "a", "hello")];
  expect(one).not.toBe(two);
  expect(Buffer.from(one, "base64url").toString("latin1")).not.toContain("hello");
});

test.each([
  ["another key", () => other.open("mail", "a", vault.seal("mail", "a", "x"))],
  ["another purpose", () => vault.open("two-factor", "a", vault.seal("mail", "a", "x"))],
  ["another place", () => vault.open("mail", "b", vault.seal("mail", "a", "x"))],
  ["nothing", () => vault.open("mail", "a", "")],
  ["noise", () => vault.open("mail", "a", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")],
])("%s cannot decrypt a sealed value", (_, open) => {
  expect(open()).toBeNull();
});

test("a sealed value with any changed bit is invalid", () => {
  const bytes = Buffer.from(vault.seal("mail", "a", "x"), "base64url");
  for (let at = 0; at < bytes.length; at++) {
    const altered = Buffer.from(bytes);
    altered[at] = (altered[at] as number) ^ 1;
    expect(vault.open("mail", "a", altered.toString("base64url"))).toBeNull();
  }
});

test("a keyed hash of the same text is always the same, and depends on purpose and key", () => {
  const hash = vault.mac("mail-code", "123456");
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(vault.mac("mail-code", "123456")).toBe(hash);
  const others = [
    vault.mac("mail-code", "123457"),
    vault.mac("recovery-code", "123456"),
    other.mac("mail-code", "123456"),
  ];
  expect(others).not.toContain(hash);
});

test("the secret key is read only at its first use", () => {
  let asked = 0;
  const lazy = createVault(() => {
    asked += 1;
    return "a secret that is counted when it is read";
  });
  expect(asked).toBe(0);
  lazy.seal("mail", "a", "x");
  lazy.seal("mail", "a", "x");
  expect(asked).toBe(1);
});
