import { expect, test } from "bun:test";
import { createVault } from "../../src/server/security/vault.ts";

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
])("%s opens nothing", (_, open) => {
  expect(open()).toBeNull();
});

test("changing any bit of a sealed value makes it invalid", () => {
  const bytes = Buffer.from(vault.seal("mail", "a", "x"), "base64url");
  for (let at = 0; at < bytes.length; at++) {
    const altered = Buffer.from(bytes);
    altered[at] = (altered[at] as number) ^ 1;
    expect(vault.open("mail", "a", altered.toString("base64url"))).toBeNull();
  }
});

test("a keyed hash is the same each time, and differs by text, purpose and key", () => {
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

test("the secret is read at the first use only", () => {
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
