import { expect, test } from "bun:test";
import { join } from "node:path";

const setup = join(import.meta.dir, "..", "..", "scripts", "setup.mjs");

const spawnSetup = (...args: string[]) =>
  Bun.spawn([process.execPath, setup, ...args], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });

test("set-up hands on arguments and output, and adds nothing to standard output", async () => {
  const child = spawnSetup("-e", "console.log(process.argv.slice(1).join())", "--", "--port", "1", "a b");
  expect(await child.stdout.text()).toBe("--port,1,a b\n");
  expect(await child.exited).toBe(0);
});

test("set-up ends with the exit code of what it runs", async () => {
  expect(await spawnSetup("-e", "process.exit(7)").exited).toBe(7);
});

test("set-up with everything in place says nothing", async () => {
  expect(await spawnSetup("-e", "0").stderr.text()).toBe("");
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test(`${signal} reaches what set-up runs, and its answer counts`, async () => {
    const child = spawnSetup(
      "-e",
      `process.on("${signal}", () => process.exit(9)); console.log("up"); setInterval(() => {}, 1000);`,
    );
    const reader = child.stdout.getReader();
    await reader.read();
    child.kill(signal);
    expect(await child.exited).toBe(9);
  });
}
