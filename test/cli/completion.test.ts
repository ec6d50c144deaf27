import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { commandTree } from "../../src/cli/commands/command-tree.ts";
import { listPaths } from "../../src/cli/framework/command-tree.ts";
import { makeDir, openCli } from "./run-bodega.ts";

const { run } = openCli();
const scripts: Record<string, string> = {};

beforeAll(async () => {
  for (const shell of ["bash", "zsh", "fish"]) scripts[shell] = (await run(["completion", shell])).stdout;
});

/** What bash offers for the last word of a line. */
async function complete(...words: string[]): Promise<string[]> {
  const path = join(makeDir(), "completion.bash");
  await Bun.write(path, scripts.bash as string);
  const program = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bodega; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const child = Bun.spawn(["bash", "-c", program, path, "bodega", ...words], { stdin: "ignore", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect(stderr).toBe("");
  return stdout.split("\n").filter((word) => word !== "");
}

test("bash completes commands, flags and fixed values", async () => {
  expect(await complete("")).toEqual([...Object.keys(commandTree), "help"]);
  expect(await complete("ten")).toEqual(["tenant"]);
  expect(await complete("key", "ro")).toEqual(["rotate"]);
  expect(await complete("-n", "demo", "key", "ro")).toEqual(["rotate"]);
  expect(await complete("help", "key", "is")).toEqual(["issue"]);
  expect(await complete("key", "issue", "--s")).toEqual(["--scope", "--secret-file"]);
  expect(await complete("completion", "f")).toEqual(["fish"]);
  expect(await complete("serve", "--log", "")).toEqual(["text", "json"]);
  expect(await complete("serve", "--log", "=", "j")).toEqual(["json"]);
  expect(await complete("key", "issue", "--name", "")).toEqual([]);
});

test("bash completes a file name with a space as one word", async () => {
  const dir = makeDir();
  await Bun.write(join(dir, "my secret"), "");
  expect(await complete("key", "issue", "--secret-file", join(dir, "my"))).toEqual([join(dir, "my secret")]);
});

test.each(["bash", "zsh", "fish"])("the %s script knows every command", (shell) => {
  for (const path of listPaths(commandTree)) for (const word of path) expect(scripts[shell]).toContain(word);
  expect(scripts[shell]).toContain("secret-file");
});
