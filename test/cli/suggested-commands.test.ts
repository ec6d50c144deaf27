import { expect, test } from "bun:test";
import { commandLine, completeCommand } from "../../src/cli/terminal/command-line.ts";
import { quoteWord } from "../../src/server/values/shell-quote.ts";
import { usePreparedShop } from "./prepared-shop.ts";
import { openCli, runAtTerminal, stripEscapes } from "./run-bodega.ts";
import { runHere } from "./run-here.ts";

const copyShop = usePreparedShop();

/** Returns the commands at the ends of lines. */
function findCommands(text: string): string[] {
  return text.match(/(?<=: )bodega .*$/gm) ?? [];
}

test("a suggested command names the same database as the given command", async () => {
  const { appId, dataDir } = copyShop();
  const flags = ["--data-dir", dataDir];
  const suggestions: [line: string[], words: string][] = [
    [["key", "rotate", appId, "--overlap", "24h"], `key retire ${appId}`],
    [["origin", "check", appId, "https://b.example"], `origin add ${appId} https://b.example`],
    [["origin", "check", appId, "https://[::1]:8"], `origin add ${appId} 'https://[::1]:8'`],
    [["order", "show", "-n", "demo", "nope"], "order list -n demo"],
  ];
  for (const [line, words] of suggestions) {
    const { stdout, stderr } = await runHere([...line, ...flags], { env: {} });
    expect(findCommands(stdout + stderr)).toContain(`bodega ${words} --data-dir '${dataDir}'`);
  }
  const failed = await runHere(["key", "show", "-n", "demo", "nope", "--json", ...flags], { env: {} });
  expect(JSON.parse(failed.stderr).error.remedy).toEndWith(`: bodega key list -n demo --data-dir '${dataDir}'`);
  const judged = await runHere(["origin", "check", appId, "https://b.example", "--json", ...flags], { env: {} });
  expect(JSON.parse(judged.stdout).advice).toEndWith(` --data-dir '${dataDir}'`);
});

test("--data-dir is added to a suggested command only once, and a quoted argument stays one word", () => {
  const command = commandLine({ "data-dir": "/srv/ada's" });
  const once = completeCommand(
    `Publish it: bodega key publish ${["*", "a'b", "web"].map(quoteWord).join(" ")}`,
    command,
  );
  expect(once).toBe(`Publish it: bodega key publish '*' 'a'\\''b' web --data-dir '/srv/ada'\\''s'`);
  expect(completeCommand(once, commandLine({ "data-dir": "elsewhere" }))).toBe(once);
  expect(completeCommand('Did you mean "bodega key list"?', command)).toBe('Did you mean "bodega key list"?');
});

test("at 40 columns, notes, warnings and errors are wrapped between words, but the commands in them can be pasted", async () => {
  const cli = openCli();
  await cli.json("tenant", "create", "demo");
  const env = { PATH: process.env.PATH };
  const empty = ["user", "list", "-n", "demo"];
  for (const line of [
    empty,
    ["key", "show", "-n", "demo", "nope"],
    ["init", "-n", "demo", "--no-owner", "--no-serve", "--title", "Other", "--no-input"],
  ]) {
    const { screen } = await runAtTerminal([...line, "--data-dir", cli.dataDir], [], { env, columns: 40 });
    const text = stripEscapes(screen);
    // Lines with commands may be wider, because a terminal that wraps them copies them as one line.
    const wide = text.split("\n").filter((one) => Bun.stringWidth(one) > 40 && /\S\s+\S/.test(one));
    expect(wide.filter((one) => !/^ *bodega /.test(one))).toEqual([]);
  }
  const { screen } = await runAtTerminal([...empty, "--data-dir", cli.dataDir], [], { env, columns: 40 });
  const create = `bodega user create -n demo --email <address> --data-dir '${cli.dataDir}'`;
  expect(stripEscapes(screen)).toContain(`\n${create}\n`);
});

test("with --json, help is one JSON value with the same text", async () => {
  for (const line of [["--help"], ["key", "issue", "--help"], ["help", "key", "issue"], ["key"]]) {
    const plain = await runHere(line, { env: {} });
    const { code, stdout, stderr } = await runHere([...line, "--json"], { env: {}, columns: 40 });
    if (line.join() === "key") expect(code).toBe(2);
    else expect([code, JSON.parse(stdout), stderr]).toEqual([0, { help: plain.stdout }, ""]);
  }
});
