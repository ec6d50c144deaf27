import { beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandTree } from "../../src/cli/commands/command-tree.ts";
import { command, makeDir, openCli, runProgram } from "./run-bodega.ts";

const { dataDir, environment, json, here: run, run: runAlone } = openCli();
const dir = makeDir();
let script: string;

beforeAll(async () => {
  for (const namespace of ["demo", "dev", "shop"]) await json("tenant", "create", namespace);
  for (const name of ["web", "with space"]) await json("key", "issue", "-n", "demo", "--name", name);
  await json("user", "create", "-n", "demo", "--email", "ada@example.com", "--no-password");
  await json("webhook", "add", "-n", "demo", "--url", "http://127.0.0.1:9/in", "--allow-private");
  script = join(dir, "completion.bash");
  writeFileSync(script, (await run(["completion", "bash"])).stdout);
  writeFileSync(join(dir, "bodega"), `#!/bin/sh\nexec '${command.join("' '")}' "$@"\n`);
  chmodSync(join(dir, "bodega"), 0o755);
});

/** Returns the candidates that the program prints for the last word. */
async function complete(words: string[], env: Record<string, string> = {}): Promise<string[]> {
  const { stdout, stderr } = await run(["__complete", words.at(-1) as string, ...words.slice(0, -1)], { env });
  expect(stderr).toBe("");
  return stdout.split("\n").flatMap((line) => line.split("\t")[0] || []);
}

/** Returns the candidates that bash offers for the last word. Bash splits words at some characters, such as `=`. */
async function completeInBash(words: string[]): Promise<string[]> {
  const program = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bodega; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const line = ["bash", "-c", program, script, join(dir, "bodega"), ...words];
  const { stdout, stderr } = await runProgram(line, { env: environment() });
  expect(stderr).toBe("");
  return stdout.split("\n").filter((word) => word !== "");
}

test.each<[words: string, offered: string[]]>([
  ["", [...Object.keys(commandTree.subCommands), "help"]],
  ["ten", ["tenant"]],
  ["key ro", ["rotate"]],
  ["-n demo key ro", ["rotate"]],
  ["help ke", ["key"]],
  ["help key is", ["issue"]],
  ["key issue --s", ["--scope", "--save-secret-to"]],
  ["completion f", ["fish"]],
  ["serve --log ", ["text", "json"]],
  ["serve --log=j", ["--log=json"]],
  ["key issue --name ", []],
])("commands, flags and fixed values are completed: %s", async (words, offered) => {
  expect(await complete(words.split(" "))).toEqual(offered);
});

test("bash completes a file name with a space as one word", async () => {
  const folder = makeDir();
  await Bun.write(join(folder, "my secret"), "");
  const line = ["key", "issue", "--save-secret-to", "=", join(folder, "my")];
  expect(await completeInBash(line)).toEqual([join(folder, "my secret")]);
});

describe("names are completed from the database", () => {
  test.each([
    ["keys in quotes and with a joined flag", ["key", "show", "--namespace", "=", '"demo"', "w"], ["web"]],
    ["emails that bash has split", ["user", "show", "-n", "demo", "ada", "@", "ex"], ["example.com"]],
    ["emails behind a joined flag", ["token", "list", "-n", "demo", "--user", "=", "ada", "@", ""], ["example.com"]],
    ["addresses", ["webhook", "show", "-n", "demo", "http", ":", "//"], ["//127.0.0.1:9/in"]],
  ])("bash completes %s", async (_what, words, offered) => {
    expect(await completeInBash(words)).toEqual(offered);
  });

  test.each([
    ["namespaces", ["tenant", "show", "d"], ["demo", "dev"]],
    ["namespaces of a flag", ["key", "list", "-n", "s"], ["shop"]],
    ["namespaces before the command", ["-n", "s"], ["shop"]],
    ["keys by their names", ["key", "show", "-n", "demo", "w"], ["web"]],
    ["emails", ["user", "show", "-n", "demo", "a"], ["ada@example.com"]],
    ["scopes", ["key", "issue", "--scope", "products:r"], ["products:read"]],
    ["nothing of another store", ["user", "show", "-n", "shop", "a"], []],
    ["only flags after the place of a name", ["key", "show", "web", "--js"], ["--json"]],
    ["nothing for free text", ["key", "issue", "-n", "demo", "--name", "w"], []],
  ])("%s", async (_what, words, offered) => {
    expect(await complete(words)).toEqual(offered);
  });

  test("keys whose name has several words are completed by their ids", async () => {
    const offered = await complete(["key", "show", "-n", "demo", ""]);
    const keys = await json<{ app_id: string; name: string }[]>("key", "list", "-n", "demo");
    expect(offered).toEqual(["web", keys.find(({ name }) => name === "with space")?.app_id as string]);
    expect((await complete(["key", "show", "app_"])).toSorted()).toEqual(keys.map(({ app_id }) => app_id).toSorted());
  });

  test("completed names come from the data directory and store of the command line or the environment", async () => {
    const env = { BODEGA_DATA_DIR: makeDir() };
    expect(await complete(["tenant", "show", "s"], env)).toEqual([]);
    expect(await complete(["tenant", "show", "--data-dir", dataDir, "s"], env)).toEqual(["shop"]);
    const named = { BODEGA_NAMESPACE: "demo" };
    expect(await complete(["user", "show", "a"], named)).toEqual(["ada@example.com"]);
    expect(await complete(["user", "show", "-n", "shop", "a"], named)).toEqual([]);
  });
});

describe("completion prints no errors, prompts for nothing and creates nothing", () => {
  test("completion without a database prints nothing and creates nothing", async () => {
    const cwd = makeDir();
    const env = { BODEGA_DATA_DIR: join(cwd, "data") };
    const outcome = await runAlone(["__complete", "d", "tenant", "show"], { cwd, env });
    expect(outcome).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(readdirSync(cwd)).toEqual([]);
  });

  test.each([
    ["a file that is not a database", ["__complete", "x", "tenant", "show"]],
    ["an unknown command", ["__complete", "x", "sesame"]],
    ["a flag as the value of a flag", ["__complete", "x", "key", "show", "--data-dir", "-n"]],
  ])("%s", async (_what, line) => {
    const broken = makeDir();
    writeFileSync(join(broken, "bodega.db"), "this is no database, however long it is ".repeat(200));
    expect(await run(line, { env: { BODEGA_DATA_DIR: broken } })).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});

test.each(["zsh", "fish"])("the %s script calls the program for candidates", async (shell) => {
  expect((await run(["completion", shell])).stdout).toContain(" __complete ");
});

// This test needs fish.
if (Bun.which("fish")) {
  test("fish also completes a word that has no letters yet", async () => {
    const fish = join(dir, "bodega.fish");
    writeFileSync(fish, (await run(["completion", "fish"])).stdout);
    const env = { ...environment(), PATH: `${dir}:${process.env.PATH}` };
    const offer = (line: string) => Bun.$`fish -c ${`source ${fish}; complete -C '${line}'`}`.env(env).text();
    expect(await offer("bodega completion ")).toBe("bash\nfish\nzsh\n");
    expect(await offer("bodega tenant show de")).toBe("demo\tdemo\ndev\tdev\n");
  });
}
