import { expect, test } from "bun:test";
import { join } from "node:path";

const setup = join(import.meta.dir, "..", "..", "scripts", "setup.mjs");

const spawnSetup = (...args: string[]) =>
  Bun.spawn([process.execPath, setup, ...args], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });

test("set-up passes on arguments and output, and adds nothing to standard output", async () => {
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
  test(`${signal} reaches the command of set-up, whose exit code counts`, async () => {
    const child = spawnSetup(
      "-e",
      // The handler is in place from the next turn of the event loop.
      `process.on("${signal}", () => process.exit(9)); setTimeout(() => console.log("up"), 1); setInterval(() => {}, 1000);`,
    );
    const reader = child.stdout.getReader();
    await reader.read();
    child.kill(signal);
    expect(await child.exited).toBe(9);
  });
}
