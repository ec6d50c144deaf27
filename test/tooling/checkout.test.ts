import { expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "..", "..");

/** Creates a checkout with the files of a clone, and the packages that set-up would install. */
function cloneCheckout(): string {
  const dir = mkdtempSync(join(tmpdir(), "bodega-checkout-"));
  const { stdout } = Bun.spawnSync(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
  });
  for (const path of stdout.toString().split("\0").filter(Boolean)) {
    cpSync(join(root, path), join(dir, path), { force: true });
  }
  for (const path of ["", "tools/bun", "tools/reference"].map((folder) => join(folder, "node_modules"))) {
    symlinkSync(join(root, path), join(dir, path));
  }
  return dir;
}

// Runs the commands of the README in their order, with only one test file, because all files would include this test.
test("npm start and then npm test succeed in one checkout", async () => {
  const cwd = cloneCheckout();
  const before = readdirSync(cwd);
  try {
    const demo = Bun.spawn(["npm", "start"], { cwd, env: { ...process.env, BODEGA_PORT: "0" }, stderr: "ignore" });
    let printed = "";
    for await (const chunk of demo.stdout.pipeThrough(new TextDecoderStream())) {
      printed += chunk;
      if (printed.includes("http://")) break;
    }
    expect(printed).toContain("http://");
    demo.kill("SIGTERM");
    await demo.exited;
    const made = readdirSync(cwd).filter((name) => !before.includes(name));
    expect(made).not.toBeEmpty();
    const lint = Bun.spawnSync(["node_modules/.bin/biome", "ci", "--no-errors-on-unmatched", ...made], { cwd });
    expect({ code: lint.exitCode, output: lint.stderr.toString() }).toMatchObject({ code: 0 });
    const check = Bun.spawn(["npm", "test", "test/service/cursor.test.ts"], { cwd, stdout: "pipe", stderr: "pipe" });
    const [output, code] = await Promise.all([check.stdout.text(), check.exited]);
    expect({ output, code }).toEqual({ output: expect.stringMatching(/\d+ passed, 0 failed\n$/), code: 0 });
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}, 180_000);

const setup = join(import.meta.dir, "..", "..", "scripts", "setup.mjs");

const spawnSetup = (...args: string[]) =>
  Bun.spawn([process.execPath, setup, ...args], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });

test("set-up passes arguments and output through, and prints nothing else on standard output", async () => {
  const child = spawnSetup("-e", "console.log(process.argv.slice(1).join())", "--", "--port", "1", "a b");
  expect(await child.stdout.text()).toBe("--port,1,a b\n");
  expect(await child.exited).toBe(0);
});

test("set-up exits with the exit code of its command", async () => {
  expect(await spawnSetup("-e", "process.exit(7)").exited).toBe(7);
});

test("set-up prints nothing when everything is installed", async () => {
  expect(await spawnSetup("-e", "0").stderr.text()).toBe("");
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test(`set-up passes ${signal} to its command, and exits with the command's exit code`, async () => {
    const child = spawnSetup(
      "-e",
      // Prints in a later turn, because the handler works only from the next turn of the event loop.
      `process.on("${signal}", () => process.exit(9)); setTimeout(() => console.log("up"), 1); setInterval(() => {}, 1000);`,
    );
    const reader = child.stdout.getReader();
    await reader.read();
    child.kill(signal);
    expect(await child.exited).toBe(9);
  });
}
