import { beforeAll, describe, expect, test } from "bun:test";
import type { Serving } from "../support/serving.ts";
import { openCli, useServers } from "./run-bodega.ts";
import { runHere } from "./run-here.ts";

const { environment, json, failure, here: run } = openCli();
const serve = useServers();
const unknownId = "tok_00000000000000000000000000";

interface User {
  user_id: string;
  email: string;
  password: string;
}
interface Token {
  token_id: string;
  state: string;
}
interface Session {
  user_id: string;
  token: string;
}

let server: Serving;
let addresses = 1;

beforeAll(async () => {
  await json("tenant", "create", "demo");
  await json("tenant", "create", "other");
  // Each call has another address, so that the limit per address does not apply.
  server = await serve(["serve", "--port", "0", "--trusted-proxy", "127.0.0.1/32"], { env: environment() });
});

let emails = 0;
const createUser = () =>
  json<User>("user", "create", "-n", "demo", "--email", `user-${emails++}@example.com`, "--random-password");
const headers = () => ({
  "Content-Type": "application/json",
  "X-Forwarded-For": `192.0.2.${addresses++}`,
});

async function signIn({ email, password }: User): Promise<Session> {
  const body = JSON.stringify({ email, password });
  const reply = await fetch(`${server.url}/auth/login/?namespace=demo`, { method: "POST", headers: headers(), body });
  expect(reply.status).toBe(200);
  return ((await reply.json()) as { data: Session }).data;
}

/** Calls the server with a token. Returns 200, or the code of the error. */
async function use({ user_id, token }: Session): Promise<number> {
  const query = new URLSearchParams({ namespace: "demo", user_id, token });
  const reply = await fetch(`${server.url}/products/?${query}`, { headers: headers() });
  return reply.ok ? 200 : ((await reply.json()) as { error: { code: number } }).error.code;
}

const list = (...flags: string[]) => json<Token[]>("token", "list", "-n", "demo", ...flags);

test("token list shows signed-in users, and no token", async () => {
  const user = await createUser();
  expect(await list("--user", user.email)).toEqual([]);
  const session = await signIn(user);
  const tokens = await list("--user", user.email);
  expect(tokens).toEqual([expect.objectContaining({ user_id: user.user_id, email: user.email, state: "active" })]);
  for (const flags of [[], ["--json"], ["-q"]]) {
    const { stdout } = await run(["token", "list", "-n", "demo", "--all-states", ...flags]);
    expect(stdout).toContain((tokens[0] as Token).token_id);
    expect(stdout).not.toContain(session.token);
  }
  const narrow = await runHere(["token", "list", "-n", "demo", "--no-color"], { env: environment(), columns: 80 });
  expect(narrow.stdout).toMatch(/^TOKEN ID +USER +STATE +CREATED +EXPIRES$/m);
  expect(narrow.stdout).toMatch(/^tok_\w{26} +user-\S+ +active +(now|\d+ seconds? ago) +in 30 days$/m);
});

test("token list shows valid tokens; --all-states also shows ended tokens, and how they ended", async () => {
  const user = await createUser();
  await signIn(user);
  await signIn(user);
  const states = async (...flags: string[]) => (await list("--user", user.user_id, ...flags)).map(({ state }) => state);
  expect([await states("--all-states"), await states()]).toEqual([["active", "replaced"], ["active"]]);
});

describe("after a token is revoked, the running server refuses it on the next request", () => {
  const ways: [how: string, flags: (user: User, tokenId: string) => string[]][] = [
    ["by email", ({ email }) => ["--user", email.toUpperCase()]],
    ["by the id of the token", (_user, tokenId) => ["--token-id", tokenId]],
  ];
  test.each(ways)("%s, and other users stay signed in", async (_how, flags) => {
    const [user, other] = [await createUser(), await createUser()];
    const [session, others] = [await signIn(user), await signIn(other)];
    const { token_id } = (await list("--user", user.email))[0] as Token;
    expect([await use(session), await use(others)]).toEqual([200, 200]);
    const revoke = () => json<unknown>("token", "revoke", "-n", "demo", ...flags(user, token_id));
    expect(await revoke()).toEqual({ revoked: 1 });
    expect([await use(session), await use(others)]).toEqual([5207, 200]);
    expect(await revoke()).toEqual({ revoked: 0 });
    expect(await use(await signIn(user))).toBe(200);
  });

  test("token revoke --all ends all sessions, and needs a confirmation", async () => {
    const sessions = [await signIn(await createUser()), await signIn(await createUser())];
    const all = ["token", "revoke", "-n", "demo", "--all"];
    expect(await failure(...all)).toMatchObject({ code: 2, error: { details: [{ field: "--yes" }] } });
    expect(await Promise.all(sessions.map(use))).toEqual([200, 200]);
    expect(await json(...all, "--yes")).toEqual({ revoked: expect.any(Number) });
    expect(await Promise.all(sessions.map(use))).toEqual([5207, 5207]);
    expect(await list()).toEqual([]);
  });
});

test("a token or user of another tenant ends token revoke with exit code 3, and no token is revoked", async () => {
  const user = await createUser();
  const session = await signIn(user);
  const { token_id } = (await list("--user", user.email))[0] as Token;
  const elsewhere = ["token", "revoke", "-n", "other"];
  for (const line of [
    [...elsewhere, "--token-id", token_id],
    [...elsewhere, "--user", user.email],
    ["token", "list", "-n", "other", "--user", user.email],
    ["token", "revoke", "-n", "demo", "--token-id", unknownId],
    ["token", "list", "-n", "nobody"],
  ]) {
    expect([line, await failure(...line)]).toMatchObject([line, { code: 3, error: { code: 5301 } }]);
  }
  expect(await json("token", "revoke", "-n", "other", "--all", "--yes")).toEqual({ revoked: 0 });
  expect(await use(session)).toBe(200);
});

test.concurrent.each([
  [[]],
  [["--all", "--user", "a@example.com"]],
  [["--token-id", unknownId, "--user", "a@example.com"]],
])("token revoke with %j ends with exit code 2, and the error asks for exactly one choice", async (flags) => {
  expect(await failure("token", "revoke", "-n", "demo", "--yes", ...flags)).toMatchObject({ code: 2 });
});
