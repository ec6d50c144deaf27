import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDir, openCli } from "./run-bodega.ts";

const { json, failure, here: run, run: runAlone } = openCli();
const unknownId = "usr_00000000000000000000000000";
const password = "Marmalade-Teapot-73";

interface User {
  user_id: string;
  email: string;
  password?: string;
}

let emails = 0;
const newEmail = () => `user-${emails++}@example.com`;
const create = (...flags: string[]) =>
  json<User>("user", "create", "-n", "demo", ...(flags.includes("--email") ? [] : ["--email", newEmail()]), ...flags);
const show = (user: string) => json<User>("user", "show", "-n", "demo", user);

beforeAll(async () => {
  await json("tenant", "create", "demo");
  await json("tenant", "create", "other");
});

test("user create reads a password from standard input, and the user is found by any spelling of the email", async () => {
  const line = ["user", "create", "-n", "demo", "--email", "Ada@Example.com", "--name", "Ada", "--password-stdin"];
  const { code, stdout, stderr } = await run([...line, "--json"], { input: `${password}\n` });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const created = JSON.parse(stdout);
  expect(created).toMatchObject({ email: "Ada@Example.com", name: "Ada", role: "customer", email_verified: false });
  expect(stdout).not.toContain(password);
  expect(await show("ada@example.COM")).toEqual(created);
  expect(await show(created.user_id)).toEqual(created);
});

test("every field of a user is stored, changed and cleared, and the old address of a new email gets a mail", async () => {
  const flags = ["--phone", "+351 210 000 000", "--role", "staff", "--lang", "PT-br", "--email-verified", "yes"];
  const { user_id, ...created } = await create("--no-password", "--name", "Eva", ...flags);
  const fields = { name: "Eva", phone: "+351 210 000 000", role: "staff", lang: "pt-BR", email_verified: true };
  expect(created).toMatchObject(fields);
  const update = (...more: string[]) => json("user", "update", "-n", "demo", user_id, ...more);
  expect(await update("--phone=", "--role", "owner")).toMatchObject({ ...fields, phone: null, role: "owner" });
  const email = newEmail();
  expect(await update("--email", email)).toMatchObject({ email, email_verified: false, name: "Eva" });
  expect(await json("mail", "list", "-n", "demo", "--kind", "email_changed")).toMatchObject([{ status: "waiting" }]);
  expect(await run(["user", "update", "-n", "demo", user_id])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--email, --name"),
  });
});

describe("a new password", () => {
  const line = (...flags: string[]) => ["user", "create", "-n", "demo", "--email", newEmail(), ...flags];

  test("a new password that is generated is strong, random, and printed once", async () => {
    const made = [await create("--random-password"), await create("--random-password")].map((user) => user.password);
    expect(new Set(made).size).toBe(2);
    for (const one of made) {
      for (const kind of [/^\S{16,}$/, /[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/]) expect(one).toMatch(kind);
    }
    const { stdout, stderr } = await run(line("--random-password"));
    expect(stdout.match(/^Password +(\S{16,})$/gm)).toHaveLength(1);
    expect(stderr).toContain("warning: Save this password now");
    expect((await run(line("--random-password", "-q"))).stdout).toMatch(/^usr_[0-9a-z]{26}:\S{16,}\n$/);
  });

  test("a new password is read from a file, which is not changed", async () => {
    const path = join(makeDir(), "password");
    writeFileSync(path, `${password}\n`);
    const { code, stdout } = await run(line("--password-file", path, "--json"));
    expect({ code, text: readFileSync(path, "utf8") }).toEqual({ code: 0, text: `${password}\n` });
    expect(stdout).not.toContain(password);
    writeFileSync(path, "Short-1\n");
    const { code: refused, stderr } = await run(line("--password-file", path));
    expect([refused, stderr]).toEqual([2, expect.stringContaining("--password-file needs at least 16 characters")]);
  });

  test.concurrent.each([
    ["nothing", "", "--password-stdin", run],
    ["two lines", `${password}\n${password}\n`, "--password-stdin", run],
    ["a weak one", "Short-1\n", "--password-stdin", run],
    ["bytes that are not text", new Uint8Array([0xff, 0xfe, 0x41]), "Standard input", runAlone],
    ["far too much", "x".repeat(10_000), "Standard input", runAlone],
  ])("a new password of %s ends the command with exit code 2 and is never shown", async (_what, input, says, start) => {
    const { code, stdout, stderr } = await start(line("--password-stdin"), { input });
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining(says) });
    for (const part of [password, "Short-1", "xxxx"]) expect(stderr).not.toContain(part);
  });

  test("a new password that is too weak gets error 5217, which names what is missing", async () => {
    const { code, stderr } = await run(line("--password-stdin", "--json"), { input: "no capitals here 1!\n" });
    expect({ code, error: JSON.parse(stderr).error }).toMatchObject({
      code: 2,
      error: { code: 5217, details: [{ flag: "--password-stdin", message: expect.stringContaining("upper") }] },
    });
  });

  test("a new password may end with CRLF, which is removed, but its leading and trailing spaces are kept", async () => {
    for (const input of [`${password}\r\n`, ` ${password} \n`]) {
      expect(await run(line("--password-stdin"), { input })).toMatchObject({ code: 0 });
    }
  });

  test.concurrent.each([
    [[], "Missing --password-stdin, --password-file, --random-password or --save-password-to"],
    [["--password-stdin", "--random-password"], "cannot be used together"],
    [["--password-file", "x", "--random-password"], "--password-file and --random-password cannot be used together"],
    [["--no-password", "--save-password-to", "x"], "--save-password-to"],
    [["--password", password], "Unknown flag --password"],
    [[`--password-stdin=${password}`], "takes no value"],
  ])("a new password given as %j without a terminal ends the command with exit code 2", async (flags, says) => {
    const { code, stdout, stderr } = await run(line(...flags));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(says);
    expect(stderr).not.toContain(password);
  });

  test("a new password is set for an existing user, by id or email", async () => {
    const { user_id, email } = await create("--no-password");
    const set = ["user", "set-password", "-n", "demo"];
    expect(await run([...set, email, "--password-stdin"], { input: password })).toMatchObject({ code: 0 });
    expect(await json<User>(...set, user_id, "--random-password")).toMatchObject({
      email,
      password: expect.anything(),
    });
    expect(await failure(...set, user_id)).toMatchObject({
      code: 2,
      error: { details: [{ field: "--password-stdin" }] },
    });
    expect(await failure(...set, newEmail(), "--random-password")).toMatchObject({ code: 3 });
  });
});

describe("a user of another tenant, or an unknown user, ends the command with exit code 3", () => {
  const commands: [command: string, flags: string[]][] = [
    ["show", []],
    ["update", ["--name", "x"]],
    ["set-password", ["--random-password"]],
    ["disable", []],
    ["delete", ["--confirm", "x"]],
    ["reset-two-factor", ["--yes"]],
  ];
  test.each(commands)("user %s", async (command, flags) => {
    const { user_id, email } = await create("--no-password");
    for (const who of [user_id, email, unknownId]) {
      const { code, error } = await failure("user", command, "-n", "other", who, ...flags);
      expect([who, code, error.code]).toEqual([who, 3, 5301]);
    }
    expect(await failure("user", command, "-n", "nobody", user_id, ...flags)).toMatchObject({ code: 3 });
    expect(await show(user_id)).toMatchObject({ status: "active", version: 1 });
  });
});

test("user list filters by role, status, and the beginning of email or name", async () => {
  const { email } = await create("--no-password", "--name", "Filtered Ada", "--role", "owner");
  await create("--no-password", "--name", "Filtered Eva");
  const emails = async (...flags: string[]) =>
    (await json<User[]>("user", "list", "-n", "demo", "--query", "filtered", ...flags)).map((user) => user.email);
  expect(await emails()).toHaveLength(2);
  expect(await emails("--limit", "1")).toHaveLength(1);
  expect(await emails("--role", "owner", "--status", "active")).toEqual([email]);
});

test("the last active owner cannot be removed before another user is an owner", async () => {
  await json("tenant", "create", "owned");
  const change = (verb: string, ...flags: string[]) => ["user", verb, "-n", "owned", "ada@example.com", ...flags];
  await json("user", "create", "-n", "owned", "--email", "ada@example.com", "--role", "owner", "--no-password");
  for (const line of [
    change("update", "--role", "staff"),
    change("disable", "--yes"),
    change("delete", "--confirm", "ada@example.com"),
  ]) {
    const { code, error } = await failure(...line);
    expect([code, error.remedy]).toEqual([4, "Make another user an owner first."]);
  }
  const others = ["eva@example.com", "leo@example.com"];
  for (const email of others)
    await json("user", "create", "-n", "owned", "--email", email, "--role", "owner", "--no-password");
  expect(await json("user", "disable", "-n", "owned", "eva@example.com")).toMatchObject({ status: "disabled" });
});

test("a user is disabled and enabled, and deleted after the email is confirmed", async () => {
  const { user_id, email } = await create("--no-password");
  const command = (name: string, ...flags: string[]) => json("user", name, "-n", "demo", user_id, ...flags);
  expect(await command("disable")).toMatchObject({ status: "disabled" });
  expect(await command("enable")).toMatchObject({ status: "active" });
  const remove = ["user", "delete", "-n", "demo", user_id];
  expect(await failure(...remove)).toMatchObject({ code: 2, error: { message: expect.stringContaining(email) } });
  expect(await failure(...remove, "--yes")).toMatchObject({ code: 2 });
  expect(await failure(...remove, "--confirm", user_id)).toMatchObject({ code: 2 });
  expect(await command("delete", "--confirm", email)).toMatchObject({ user_id, email });
  expect(await failure("user", "show", "-n", "demo", user_id)).toMatchObject({ code: 3 });
});

test("user reset-two-factor needs a confirmation, and says if two-factor was not enabled", async () => {
  const { user_id } = await create("--no-password");
  const reset = ["user", "reset-two-factor", "-n", "demo", user_id];
  expect(await failure(...reset)).toMatchObject({ code: 2, error: { details: [{ field: "--yes" }] } });
  const { code, stdout, stderr } = await run([...reset, "--yes"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "Two-factor sign-in was not enabled. Nothing was changed.\n" });
  expect(stdout).toMatch(/Two factor enabled +no/);
});
