import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { childrenOf, hasProc } from "../binary/processes.ts";
import { findInFiles } from "../support/find-in-files.ts";
import type { Serving } from "../support/serving.ts";
import { typedSecret } from "./command-calls.ts";
import { fullLine, listCalledCommands } from "./every-command.ts";
import { type PreparedShop, usePreparedShop } from "./prepared-shop.ts";
import { command, openCli, useServers } from "./run-bodega.ts";
import { runHere } from "./run-here.ts";

const copyShop = usePreparedShop();
const serve = useServers();
const commands = await listCalledCommands();
const settings = {
  BODEGA_SECRET: "a-secret-of-the-environment-0123456789",
  BODEGA_METRICS_TOKEN: "metrics-token-of-the-environment-0123456789",
  BODEGA_S3_ACCESS_KEY_ID: "AKIAOFTHEENVIRONMENT",
  BODEGA_S3_SECRET_ACCESS_KEY: "s3-secret-of-the-environment-0123456789",
};

let shop: PreparedShop;
let server: Serving;
/** All secrets that were created or given; the tests search for them in the command lines of all processes. */
const secrets = new Set<string>(Object.values(settings).filter((value) => !value.startsWith("AKIA")));
let commandLines = "";

beforeAll(async () => {
  shop = copyShop();
  // This environment has another secret key than the store, so the store must be rekeyed.
  const rekey = await runHere(["db", "rekey", "--yes"], { env: { ...shop.env, ...settings } });
  expect(rekey.code).toBe(0);
  const env = { ...shop.env, ...settings };
  server = await serve(["serve", "--port", "0", "--workers", "2", "--log", "json"], { env, cwd: shop.dir });
  noteCommandLines(server.pid);
});

/** Records the command lines of a process and its children, as `/proc` and `ps` show them. */
function noteCommandLines(pid: number): void {
  if (!hasProc) return;
  for (const one of [pid, ...childrenOf(pid)]) {
    try {
      commandLines += readFileSync(`/proc/${one}/cmdline`, "utf8");
    } catch {
      // The process has ended.
    }
  }
}

/** Runs a command in its own process, and repeatedly records its command line. */
async function watchCommand(line: string[], input = ""): Promise<string> {
  const env = { ...shop.env, ...settings };
  const stdin = Buffer.from(input);
  const child = Bun.spawn([...command, ...line], { env, cwd: shop.dir, stdin, stdout: "pipe", stderr: "pipe" });
  const output = Promise.all([child.stdout.text(), child.stderr.text()]);
  while (child.exitCode === null && child.signalCode === null) {
    noteCommandLines(child.pid);
    await Promise.race([child.exited, Bun.sleep(5)]);
  }
  const [stdout, stderr] = await output;
  expect({ line, code: child.exitCode, stderr }).toEqual({ line, code: 0, stderr: expect.any(String) });
  return stdout;
}

/** Returns the secrets in a JSON answer, found by the names of their fields. */
function pickSecrets(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    typeof field === "string" && /^(app_secret|secret|password)$/.test(name) ? [field] : pickSecrets(field),
  );
}

test("commands show each secret once; no list, log, file or process shows it again", async () => {
  const makers = commands.filter(({ call }) => call.makesSecret && call.server === undefined);
  for (const called of makers) {
    const found = pickSecrets(JSON.parse(await watchCommand([...fullLine(called, shop), "--json"], called.call.input)));
    expect({ name: called.name, count: found.length }).toEqual({ name: called.name, count: 1 });
    secrets.add(found[0] as string);
  }
  const random = ["user", "create", "-n", "demo", "--email", "random@example.com", "--random-password", "--json"];
  for (const secret of pickSecrets(JSON.parse(await watchCommand(random)))) secrets.add(secret);
  secrets.add(typedSecret);
  await watchCommand(["user", "set-password", "-n", "demo", "ada@example.com", "--password-stdin"], typedSecret);
  await watchCommand(["db", "backup", "--json"]);
  expect(secrets.size).toBe(makers.length + 5);

  const readers = commands.filter(
    ({ path, call }) => /^(list|show|deliveries|devices)$/.test(path[1] ?? "") && !call.alone,
  );
  expect(readers.length).toBeGreaterThan(15);
  for (const called of readers) {
    for (const form of [[], ["--json"], ["-q"]]) {
      const { stdout, stderr } = await runHere([...fullLine(called, shop), ...form], {
        env: { ...shop.env, ...settings },
      });
      for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
    }
  }
  await server.end();
  for (const secret of secrets) {
    expect(commandLines).not.toContain(secret);
    expect(server.log() + server.stdout()).not.toContain(secret);
  }
  expect(commandLines.includes("serve") && commandLines.includes("rotate")).toBe(hasProc);
  expect(findInFiles(shop.dataDir, [...secrets])).toEqual([]);
}, 30_000);

describe("an error does not repeat a secret that was typed as an argument", () => {
  const secret = "hunter2-hunter2";
  test.each([
    [["user", "create", "-n", "demo", "--email", "eve@example.com", "--password", secret]],
    [["user", "create", "-n", "demo", "--email", "eve@example.com", "--no-password", secret]],
    [["user", "create", "-n", "demo", "--email", "eve@example.com", "--password-stdin", secret]],
    [["user", "create", "-n", "demo", "--email", "eve@example.com", `--password-stdin=${secret}`]],
    [["user", "set-password", "-n", "demo", "ada@example.com", "-p", secret]],
    [["key", "issue", "-n", "demo", "--name", "web", `--app-secret=${secret}`]],
    [["tenant", "list", "--database-url", `libsql://x.example.com?authToken=${secret}`]],
    [["tenant", "list", "--database-url", `libsql://user:${secret}@x.example.com`]],
    [["tenant", "list", "--database-auth-token", secret]],
    [["webhook", "add", "-n", "demo", "--url", `https://user:${secret}@example.com/`]],
    [["health", "--url", `http://user:${secret}@127.0.0.1:1`]],
    [`init -n new --title New --no-owner --smtp-url-file smtp://user:${secret}@mail.example.com`.split(" ")],
    [["init", "-n", "new", "--title", "New", "--owner-email", "e@example.com", "--owner-password", secret]],
    [["db", "backup", "--to", `s3://key:${secret}@bucket/prefix`]],
    [["serve", "--metrics-token", secret]],
    [["serve", "--public-url", `https://user:${secret}@shop.example.com`]],
  ])("bodega %j", async (line) => {
    const { dataDir, dir } = shop;
    for (const json of [[], ["--json"]]) {
      const all = [...line, ...json];
      // If the command were accepted, its server would not end.
      const outcome =
        line[0] === "serve"
          ? await openCli(dataDir).run(all, { cwd: dir })
          : await runHere(all, { env: { BODEGA_DATA_DIR: dataDir } });
      expect(outcome.code).toBeGreaterThan(0);
      expect(outcome.stdout + outcome.stderr).not.toContain(secret);
    }
  });
});

test("no argument of a command has a secret as its value", () => {
  const named = commands.flatMap(({ name, command }) =>
    Object.entries(command.args)
      .filter(([arg]) => /secret|password|passphrase|token|otp|hash|credential/.test(arg))
      .map(([arg, { type, ...rest }]) => ({
        arg: `${name} ${arg}`,
        type,
        hint: "valueHint" in rest ? rest.valueHint : undefined,
      })),
  );
  expect(named.length).toBeGreaterThan(10);
  const takesValue = named.filter(({ type }) => type !== "boolean");
  expect(takesValue.length).toBeGreaterThan(5);
  expect(takesValue.filter(({ hint }) => !/^(path|file|id|duration)$/.test(hint ?? ""))).toEqual([]);
});
