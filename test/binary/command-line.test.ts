import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { runAtTerminal, type Step, stripEscapes } from "../cli/run-bodega.ts";
import { isolateExecutable, type LoneExecutable, type Outcome } from "./lone-executable.ts";

let bodega: LoneExecutable;

beforeAll(async () => {
  bodega = isolateExecutable();
  for (const line of ["tenant create demo", "tenant create other", "key issue -n demo --name web"]) {
    expect((await bodega.run(line.split(" "))).code).toBe(0);
  }
});

afterAll(() => bodega.remove());

/** Runs a shell command line, in which `bodega` is the executable. */
async function shell(line: string, env: Record<string, string> = {}): Promise<Outcome> {
  const child = Bun.spawn(["bash", "-c", `bodega() { ${bodega.path} "$@"; }; ${line}`], {
    cwd: bodega.dir,
    env: { ...bodega.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 20_000,
  });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, stdout, stderr };
}

describe("a usage error ends with exit code 2 and one error message, and changes nothing", () => {
  // These errors occur only in a shell. Other usage errors are in test/cli/arguments.test.ts.
  test.each<[line: string, said: string]>([
    ["tenant lst", 'Did you mean "bodega tenant list"?'],
    ["''", 'Unknown command "".'],
    ["-- tenant list", 'Incomplete command "bodega <command>".'],
    ["tenant create new --title $'Caf\\xe9'", "An argument is not UTF-8 text."],
    ["key issue -n demo <&-", "Missing --name."],
    ["tenant suspend demo </dev/null", "--yes"],
    ["tenant delete demo --yes </dev/null", "--confirm demo"],
    [
      "user create -n demo --email a@example.com --password-stdin <&-",
      "needs one line of text, but standard input is empty",
    ],
  ])("bodega %s", async (line, said) => {
    const { code, stdout, stderr } = await shell(`bodega ${line}`);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining(said) });
    expect(stderr).toMatch(/^error: /);
    expect(stderr).toMatch(/\n {2}Help: \.\/bodega [-a-z ]*-h\n$/);
    expect(stderr).not.toMatch(/\$bunfs|\n\s+at /);
  });

  test("after all these usage errors, every store is unchanged", async () => {
    expect(await shell("bodega tenant list -q; bodega tenant list --json | grep -c suspended")).toMatchObject({
      stdout: "demo\nother\n0\n",
    });
  });

  test("with --json, a usage error is one JSON value, even if --json itself is misplaced", async () => {
    for (const line of ["key issue -n demo --name --json", "tenant --json lst"]) {
      const { code, stdout, stderr } = await shell(`bodega ${line}`);
      expect({ code, stdout, keys: Object.keys(JSON.parse(stderr)) }).toEqual({ code: 2, stdout: "", keys: ["error"] });
    }
  });
});

describe("a command at a terminal", () => {
  const password = "Marmalade-Teapot-73";
  const atTerminal = (line: string, steps: Step[]) => {
    const env = { ...bodega.env, BODEGA_DATA_DIR: join(bodega.dir, "bodega-data") };
    return runAtTerminal(line.split(" "), steps, { env, program: [bodega.path] });
  };

  test("a command at a terminal asks for missing values, and hides a typed password", async () => {
    const steps: Step[] = [
      ["(--namespace)", "demo\r"],
      ["(--email)", "ada@example.com\r"],
      ["New password", `${password}\r`],
      ["Repeat the password", `${password}\r`],
    ];
    const { code, screen } = await atTerminal("user create", steps);
    expect({ code, shown: stripEscapes(screen) }).toEqual({ code: 0, shown: expect.stringMatching(/\nUser id +usr_/) });
    expect(screen).not.toContain(password.slice(0, 6));
  });

  test("a command at a terminal ends with exit code 130 after ctrl-C or ctrl-D, and changes nothing", async () => {
    for (const key of ["\u0003", "\u0004"]) {
      expect(await atTerminal("tenant suspend demo", [["Suspend store demo?", key]])).toMatchObject({ code: 130 });
    }
    expect((await shell("bodega tenant show demo")).stdout).toMatch(/^Status +active$/m);
  });
});

describe("standard output", () => {
  test("a closed pipe does not make a command fail", async () => {
    const outcome = await shell("set -o pipefail; bodega --help | head -1");
    expect(outcome).toEqual({ code: 0, stdout: expect.stringMatching(/^Bodega: .*\n$/), stderr: "" });
  });

  // Linux only: every write to this file fails, as on a full disk.
  if (existsSync("/dev/full")) {
    test.each(["tenant list", "--help"])(
      "bodega %s with output to a full disk ends with exit code 1 and an error",
      async (line) => {
        const { code, stderr } = await shell(`bodega ${line} >/dev/full`);
        expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("could not be written") });
        expect(await shell(`bodega ${line} 2>/dev/full`)).toMatchObject({ code: 0 });
      },
    );
  }

  test("closed output streams change neither the effect nor the exit code", async () => {
    expect(await shell("bodega tenant list -q <&-")).toEqual({ code: 0, stdout: "demo\nother\n", stderr: "" });
    expect(await shell("bodega tenant list -q 2>&-")).toMatchObject({ code: 0, stdout: "demo\nother\n" });
    expect(await shell("bodega tenant list >&-")).toMatchObject({ code: 0 });
    expect(await shell("bodega tenant show nobody <&- >&- 2>&-")).toMatchObject({ code: 3 });
  });
});

describe("the environment of a command", () => {
  test("commands need no home directory, terminal, locale or setting", async () => {
    expect(await shell(`env -i ${bodega.path} tenant list -q`)).toEqual({
      code: 0,
      stdout: "demo\nother\n",
      stderr: "",
    });
    const env = { LANG: "C", LC_ALL: "C", TERM: "dumb", HOME: "/nonexistent" };
    const outcome = await shell("bodega tenant show demo", env);
    expect(outcome).toMatchObject({ code: 0, stdout: expect.stringContaining("€"), stderr: "" });
  });

  test("a deleted working directory is reported as an error", async () => {
    const { code, stdout, stderr } = await shell("mkdir gone; cd gone; rmdir ../gone; bodega version");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^error: .*working directory.*\n$/);
  });

  // Linux only: nobody can create files in this directory.
  if (existsSync("/proc/self")) {
    test("in a read-only directory, commands that write nothing work, and the other commands name the directory", async () => {
      expect(await shell("cd /proc && bodega version -q && bodega --help >/dev/null")).toMatchObject({ code: 0 });
      const { code, stdout, stderr } = await shell("cd /proc && bodega tenant create demo");
      expect({ code, stdout, stderr }).toEqual({
        code: 4,
        stdout: "",
        stderr: expect.stringContaining("/proc/bodega"),
      });
    });
  }

  test("a very long argument gets a short error", async () => {
    const word = "a".repeat(100_000);
    for (const [line, code] of [
      [["tenant", "show", word], 3],
      [["tenant", "create", word], 2],
      [["tenant", "list", "--data-dir", word], 2],
    ] as [string[], number][]) {
      const outcome = await bodega.run(line);
      expect({ line: line[0]?.slice(0, 9), code: outcome.code }).toEqual({ line: line[0]?.slice(0, 9), code });
      expect(outcome.stderr.length).toBeLessThan(3000);
    }
  });
});
