import { describe, expect, test } from "bun:test";
import { listCommands, renderReference } from "../../scripts/reference.ts";
import { commandTree } from "../../src/cli/commands/command-tree.ts";
import type { Command } from "../../src/cli/framework/command.ts";
import { findCommand } from "../../src/cli/framework/find-command.ts";
import { findMissing } from "../../src/cli/framework/questions.ts";
import { readArgs } from "../../src/cli/framework/read-args.ts";
import { openCli } from "./run-bodega.ts";
import { splitShell } from "./split-shell.ts";

const { here: run } = openCli();
const commands = await Promise.all(
  listCommands(commandTree).map(async ([path, load]): Promise<[string[], Command]> => [path, await load()]),
);

describe("help is printed on standard output", () => {
  test.concurrent.each([
    [[]],
    [["-h"]],
    [["--help"]],
    [["help"]],
    [["help", "help"]],
    [["key"]],
    [["key", "-h"]],
    [["help", "key"]],
    [["product", "image"]],
    [["help", "key", "issue"]],
    [["-h", "key", "issue"]],
    [["key", "-h", "issue"]],
    [["key", "issue", "-h"]],
    [["key", "issue", "--bogus", "--name", "a", "--name", "b", "-qh"]],
  ])("bodega %j", async (line) => {
    const { code, stdout, stderr } = await run(line);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(line.includes("issue") ? "bodega key issue [flags]" : "Usage\n  bodega ");
    expect(stdout).not.toContain("\u001b");
  });
});

test("-h after -- is a value", async () => {
  expect(await run(["tenant", "show", "--", "-h"])).toMatchObject({ code: 3 });
});

test("help lists every command and every exit code", async () => {
  const { stdout } = await run(["--help"]);
  for (const name of Object.keys(commandTree.subCommands)) expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
  for (const code of [0, 1, 2, 3, 4, 130]) expect(stdout).toMatch(new RegExp(`^  ${code} `, "m"));
});

describe("every command", () => {
  test.each(commands)("%j describes each argument in one line without a full stop", (_path, command) => {
    const lines = [command.meta.description, ...Object.values(command.args).map((arg) => arg.description ?? "")];
    for (const line of lines) expect(line).toMatch(/^[A-Z][^\n]*[^.\n]$/);
  });

  test.each(commands)("%j has examples that its own parser accepts", (path, command) => {
    expect(command.examples.length).toBeGreaterThan(0);
    for (const example of command.examples) {
      const line = example.split(" | ").find((part) => part.startsWith("bodega ")) ?? example;
      const [program, ...argv] = splitShell(line.replace(/ [<>] .*/, ""));
      expect(program).toBe("bodega");
      const target = findCommand(commandTree, argv);
      expect(target).toMatchObject({ isHelp: false, path });
      expect(findMissing(command.args, readArgs(target.rest, command.args))).toEqual([]);
    }
  });
});

test("the address of a libSQL server is refused if it contains a secret", async () => {
  const url = "libsql://example.com?authToken=sesame";
  const { code, stderr } = await run(["tenant", "list", "--database-url", url]);
  expect(code).toBe(2);
  expect(stderr).toContain("BODEGA_DATABASE_AUTH_TOKEN");
  expect(stderr).not.toContain("sesame");
});

test("docs/CLI.md is generated from the definitions", async () => {
  const file = Bun.file(new URL("../../docs/CLI.md", import.meta.url));
  expect(await file.text()).toBe(await renderReference(commandTree));
});
