import { beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { escapeControls, escapeJson, layOutTable, truncateText } from "../../src/cli/terminal/text.ts";
import { makeDir, openCli, runAtTerminal } from "./run-bodega.ts";
import { runHere } from "./run-here.ts";

const { json, here: run, environment } = openCli();
const title = "Крамниця 商店 👩‍👩‍👧 with a title that is much too long for the terminal it is shown on";

beforeAll(async () => {
  await json("tenant", "create", "demo", "--title", title);
});

describe("control characters", () => {
  const hostile = "a\u001b[2Jb\u0007\u009b31m\u202egpj\nc\u2028\ud800";

  test("stored text in a table does not control the terminal", () => {
    expect(escapeControls(hostile)).toBe("a\\u001b[2Jb\\u0007\\u009b31m\\u202egpj\\nc\\u2028\\ud800");
  });

  test("stored text in JSON does not control the terminal, and the JSON value stays the same", () => {
    const escaped = escapeJson(JSON.stringify({ hostile }, null, 2));
    expect(escaped.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    expect(JSON.parse(escaped)).toEqual({ hostile });
  });

  test("an argument in an error does not control the terminal", async () => {
    const { code, stderr } = await run(["tenant", "show", "a\u009b31m\u001b[31m"]);
    expect(code).toBe(3);
    expect(stderr.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  });

  test("an unknown command does not control the terminal", async () => {
    const { stderr } = await run([`\u001b[31m`]);
    expect(stderr).not.toContain("\u001b");
  });
});

describe("a table", () => {
  const rows = [
    { id: "app_01k8z3v5x2f1rt9m6q7wbn4hcd", title },
    { id: "app_2", title: "é e\u0301 🏳️‍🌈 \u001b[31m" },
  ];
  const columns = [
    { header: "ID", value: (row: (typeof rows)[number]) => row.id },
    { header: "TITLE", value: (row: (typeof rows)[number]) => row.title },
  ];

  test.each([50, 60, 80])("a table fits %d columns, and cuts titles before ids", (width) => {
    const lines = layOutTable(rows, columns, { width, color: false }).text.trimEnd().split("\n");
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(width);
    expect(lines[1]).toMatch(/^app_01k8z3v5x2f1rt9m6q7wbn4hcd {2}.*…$/);
  });

  test("a table that is too wide first cuts long texts, then hides empty columns, then the last columns", () => {
    const wide = ["ID", "NOTE", "NAME", "STATE", "MORE"];
    const row: Record<string, string> = { ID: "app_1", NOTE: "-", STATE: "published" };
    const fit = (width: number) => {
      const of = (header: string) => ({ header, value: (one: typeof row) => one[header] ?? header.repeat(5) });
      const { text, hidden } = layOutTable([row], wide.map(of), { width, color: false });
      return [text.split("\n")[1], hidden];
    };
    expect(fit(70)).toEqual(["app_1  -     NAMENAMENAMENAMENAME  published  MOREMOREMOREMOREMORE", []]);
    expect(fit(58)).toEqual(["app_1  -     NAMENAMENAMENAM…  published  MOREMOREMOREMOR…", []]);
    expect(fit(48)).toEqual(["app_1  NAMENAMENAMEN…  published  MOREMOREMOREM…", ["NOTE"]]);
    expect(fit(40)).toEqual(["app_1  NAMENAMENAMENAMENAME  published", ["NOTE", "MORE"]]);
  });

  test("a table colours only states, and nothing with colours off", () => {
    const states = ["published", "disabled", "revoked", "other"].map((state) => ({ state }));
    const column = { header: "STATE", value: ({ state }: { state: string }) => state };
    const draw = (color: boolean) => layOutTable(states, [column], { width: undefined, color }).text;
    expect(draw(true)).toBe(
      "\u001b[1mSTATE\u001b[22m\n\u001b[32mpublished\u001b[39m\n\u001b[33mdisabled\u001b[39m\n\u001b[31mrevoked\u001b[39m\nother\n",
    );
    expect(draw(false)).toBe("STATE\npublished\ndisabled\nrevoked\nother\n");
  });

  test("a table shows relative times, and JSON shows timestamps", async () => {
    expect((await run(["tenant", "list"])).stdout).toMatch(/ (now|\d+ seconds? ago)\n/);
    expect((await run(["tenant", "show", "demo"])).stdout).toMatch(/\nCreated at +(now|\d+ seconds? ago) \(2\S+Z\)\n/);
    expect((await run(["tenant", "list", "--json"])).stdout).toMatch(/"created_at":"\d{4}-\d\d-\d\dT[\d:.]+Z"/);
  });

  test("a table prints each row as a block of lines if it would otherwise lose half of its columns, or an id", () => {
    const text = layOutTable(rows, columns, { width: 30, color: false }).text;
    expect(text).toStartWith("ID\napp_01k8z3v5x2f1rt9m6q7wbn4hcd\nTITLE");
    expect(text).toContain("\n\nID     app_2\nTITLE  é e");
  });

  test("a table is never cut in a pipe", () => {
    expect(layOutTable(rows, columns, { width: undefined, color: false }).text).toContain(title);
  });

  test("a table cuts a text only between whole characters", () => {
    expect(truncateText("a👩‍👩‍👧b", 3)).toBe("a…");
    expect(truncateText("商店", 3)).toBe("商…");
    expect(truncateText("商店", 4)).toBe("商店");
    expect(truncateText("e\u0301e\u0301e\u0301", 2)).toBe("e\u0301…");
  });

  test("a table fits a real terminal, and has bold headers unless colours are off", async () => {
    const wide = await runAtTerminal(["tenant", "list"], [], { env: environment(), columns: 72 });
    expect(wide.screen).toContain("\u001b[1mNAMESPACE");
    for (const line of Bun.stripANSI(wide.screen).split("\r\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(72);
    for (const [args, env] of [
      [["--no-color"], {}],
      [[], { NO_COLOR: "1" }],
      [[], { TERM: "dumb" }],
    ] as const) {
      const plain = await runHere(["tenant", "list", ...args], { env: environment(env), columns: 100 });
      expect(plain.stdout).not.toContain("\u001b");
    }
  });
});

test("a terminal of unknown width is treated as 80 columns wide", async () => {
  const wrapper = ["sh", "-c", 'stty cols 0; exec "$@"', "sh"];
  const [unknown, known] = [
    await runAtTerminal(["tenant", "--help"], [], { env: { ...environment(), PATH: process.env.PATH }, wrapper }),
    await runAtTerminal(["tenant", "--help"], [], { env: environment(), columns: 80 }),
  ];
  expect(unknown).toEqual(known);
});

test("sizes are in KiB and MiB in tables, and in bytes in JSON", async () => {
  const { stdout } = await run(["db", "backup"]);
  expect(stdout).toMatch(/^Size +\d[\d.]* KiB$/m);
  expect(stdout).toMatch(/^Database size +\d[\d.]* [KM]iB$/m);
  expect(await json("db", "backup")).toMatchObject({ bytes: expect.any(Number), database_bytes: expect.any(Number) });
});

test("JSON is one line in a pipe, and indented at a terminal", async () => {
  expect((await run(["tenant", "list", "--json"])).stdout.split("\n")).toHaveLength(2);
  const { stdout } = await runHere(["tenant", "list", "--json"], { env: environment(), columns: 100 });
  expect(JSON.parse(stdout)).toHaveLength(1);
  expect(stdout).toContain('\n    "namespace": "demo"');
});

describe("an unexpected error", () => {
  test("an unexpected error is one line without a stack trace, SQL or a source path", async () => {
    const dataDir = makeDir();
    writeFileSync(join(dataDir, "bodega.db"), "This is not a database at all. ".repeat(200));
    const { code, stdout, stderr } = await run(["tenant", "list"], { env: { BODEGA_DATA_DIR: dataDir } });
    expect(code).toBeGreaterThan(0);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^error: .*\n {2}.*\n$/);
    expect(stderr).not.toMatch(/\bat |\.ts\b|node_modules|\b(select|pragma|from)\b/i);
  });

  test("an unexpected error about the database file names the file and a command that helps", async () => {
    const dataDir = makeDir();
    const file = join(dataDir, "bodega.db");
    writeFileSync(file, Buffer.alloc(9000, "not a database"));
    const commands: [args: string[], exit: number][] = [
      [["tenant", "list"], 4],
      [["key", "list", "-n", "demo"], 4],
      // The exit code is not 4, which tells systemd that a restart cannot help.
      [["serve", "--port", "0"], 1],
    ];
    for (const [args, exit] of commands) {
      const { code, stderr } = await run(args, { env: { BODEGA_DATA_DIR: dataDir } });
      expect(code).toBe(exit);
      expect(stderr).toContain(`error: ${file}: The database file is not a database.\n`);
      expect(stderr).toMatch(/restore the last backup with: \S*bodega\S* db restore BACKUP\n$/);
    }
  });

  test("if the data directory cannot be created, the error names the directory", async () => {
    const file = join(makeDir(), "file");
    writeFileSync(file, "");
    const { code, stderr } = await run(["tenant", "create", "demo", "--data-dir", join(file, "data")]);
    expect(code).toBe(4);
    expect(stderr).toContain(join(file, "data"));
  });
});
