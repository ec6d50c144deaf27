import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { bundleClient, bundleClientTypes } from "../../scripts/build-client.ts";
import { useBinaries } from "../support/binary.ts";
import { isolateExecutable, type LoneExecutable, root } from "./lone-executable.ts";

let bodega: LoneExecutable;

// Cleans the directory, so that a test sees only its own files.
beforeEach(() => {
  bodega = isolateExecutable();
});

afterEach(() => bodega.remove());

test("the executable prints its version and its commit", async () => {
  expect(await bodega.run(["version"])).toEqual({ code: 0, stdout: `bodega ${manifest.version}\n`, stderr: "" });
  const { stdout } = await bodega.run(["version", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ version: manifest.version, commit: expect.stringMatching(/^\w{7,}$/) });
});

test("the executable contains the list of common passwords", async () => {
  await bodega.run(["tenant", "create", "demo"]);
  for (const [password, code] of [
    ["Password123!Password123!", 2],
    ["Vermilion-Kettle-4871", 0],
  ] as const) {
    const args = ["user", "create", "-n", "demo", "--email", "ada@example.com", "--password-stdin"];
    const { path, dir, env } = bodega;
    const child = Bun.spawn([path, ...args], {
      cwd: dir,
      env,
      stdin: Buffer.from(password),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stderr, exit] = await Promise.all([child.stderr.text(), child.exited]);
    expect({ password, exit, stderr }).toEqual({
      password,
      exit: code,
      stderr: code === 0 ? "Created user ada@example.com.\n" : expect.stringContaining("common"),
    });
  }
});

test("settings in the working directory are not read", async () => {
  const files = {
    ".env": "BODEGA_DATA_DIR=/nonexistent/below\nBODEGA_PORT=1\n",
    ".env.production": "BODEGA_DATA_DIR=/nonexistent/below\n",
    "bunfig.toml": `preload = ["./preload.ts"]\n`,
    "preload.ts": `require("node:fs").writeFileSync("preloaded", "");\n`,
    "tsconfig.json": "{ not json",
    "package.json": "{ not json",
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(bodega.dir, name), content);
  expect(await bodega.run(["db", "migrate"])).toMatchObject({ code: 0 });
  expect(existsSync(join(bodega.dir, "bodega-data", "bodega.db"))).toBe(true);
  expect(existsSync(join(bodega.dir, "preloaded"))).toBe(false);
});

test("commands that need no database work even if the engine cannot be unpacked", async () => {
  const nowhere = { TMPDIR: join(bodega.path, "no"), BUN_TMPDIR: join(bodega.path, "no") };
  const commands = [["--help"], ["-h"], ["version"], ["help", "key", "issue"], ["tenant", "create", "--help"]];
  for (const args of [...commands, ...["bash", "zsh", "fish"].map((shell) => ["completion", shell])]) {
    const { code, stdout, stderr } = await bodega.run(args, nowhere);
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
    expect(stdout.length).toBeGreaterThan(5);
  }
});

test("if the engine cannot be unpacked, a command that needs the database names the setting that helps", async () => {
  expect(await bodega.run(["db", "migrate"])).toMatchObject({ code: 0 });
  const nowhere = { TMPDIR: join(bodega.path, "no"), BUN_TMPDIR: join(bodega.path, "no") };
  const { code, stdout, stderr } = await bodega.run(["tenant", "list"], nowhere);
  expect(code).not.toBe(0);
  expect(stdout).toBe("");
  expect(stderr).toContain("BUN_TMPDIR");
  expect(stderr).not.toMatch(/\$bunfs|\n\s+at |\.node\b|dlopen/);
  // Only with this file, doctor tries the server's lock.
  writeFileSync(join(bodega.dir, "bodega-data", "server.lock"), "");
  const doctor = await bodega.run(["doctor", "--json"], nowhere);
  const { findings } = JSON.parse(doctor.stdout) as { findings: { check: string; message: string }[] };
  expect(findings.find(({ check }) => check === "server")?.message).toContain("engine could not be loaded");
  expect(doctor.stdout).not.toContain("constructor");
  const helped = await bodega.run(["tenant", "list", "--json"], { ...nowhere, BUN_TMPDIR: bodega.env.TMPDIR ?? "" });
  expect(helped).toMatchObject({ code: 0, stdout: "[]\n" });
});

test("if a host does not resolve, the error does not say that the port is in use", async () => {
  const serve = ["serve", "--host", "nosuch.invalid", "--port", "42399"];
  // Starts twice: the error of the first start must not change the error of the second.
  await bodega.run(serve);
  const { code, stderr } = await bodega.run(serve);
  expect(code).toBe(1);
  expect(stderr).toContain("or the host is not an address of this machine. Check --host and --port.");
  expect(stderr).not.toContain("by another program");
});

test("the executable unpacks one file into the temporary directory, and nothing elsewhere", async () => {
  for (const args of [
    ["version"],
    ["db", "migrate"],
    ["db", "migrate", "--data-dir", "carried"],
    ["tenant", "create", "demo"],
    ["tenant", "lst"],
  ]) {
    const { code } = await bodega.run(args);
    expect({ args, code }).toEqual({ args, code: args[1] === "lst" ? 2 : 0 });
  }
  expect(readdirSync(bodega.env.TMPDIR ?? "").map((name) => extname(name))).toEqual([".node"]);
  expect(readdirSync(bodega.env.HOME ?? "")).toEqual([]);
  expect(readdirSync(bodega.dir).toSorted()).toEqual(["bodega", "bodega-data", "carried"]);
});

test("the executable contains no path of the build machine", () => {
  const bytes = readFileSync(bodega.path);
  for (const folder of ["src", "node_modules", "drizzle", "scripts"]) {
    expect({ folder, at: bytes.indexOf(join(root, folder)) }).toEqual({ folder, at: -1 });
  }
});

test("an error of the executable shows no path of the build machine, no stack and no SQL", async () => {
  const failures = [
    ["tenant", "list", "--data-dir", "/dev/null/x"],
    ["tenant", "lst"],
    ["serve", "--port", "x"],
  ];
  for (const args of failures) {
    const { code, stdout, stderr } = await bodega.run(args);
    expect({ args, failed: code > 0, stdout }).toEqual({ args, failed: true, stdout: "" });
    expect(stderr).not.toMatch(/\$bunfs|\n\s+at |node_modules|SELECT|PRAGMA|CREATE/);
    expect(stderr).not.toContain(root);
  }
});

const { installBinary } = useBinaries();

test("the executable serves the client and its types as built from the source", async () => {
  const server = await installBinary().serve();
  const read = async (path: string) => (await fetch(`${server.url}${path}`)).text();
  expect(await read("/client.js")).toBe(await bundleClient());
  expect(await read("/client.d.ts")).toBe(await bundleClientTypes());
  expect(await server.end()).toBe(0);
}, 60_000);
