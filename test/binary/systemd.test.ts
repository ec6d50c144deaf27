import { dlopen } from "bun:ffi";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { useBinaries } from "../support/binary.ts";
import { until } from "../support/until.ts";

const { installBinary } = useBinaries();
const [afUnix, sockDgram, msgDontwait] = [1, 2, 0x40];

/** Opens a socket as systemd does. Returns a function that reads all messages so far. */
function listenAt(path: string): () => string[] {
  const { socket, bind, recv } = dlopen("libc.so.6", {
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    bind: { args: ["i32", "ptr", "u32"], returns: "i32" },
    recv: { args: ["i32", "ptr", "u64", "i32"], returns: "i64" },
  }).symbols;
  const fd = socket(afUnix, sockDgram, 0);
  const address = Buffer.concat([Buffer.of(afUnix, 0), Buffer.from(path)]);
  expect(bind(fd, address, address.length)).toBe(0);
  const messages: string[] = [];
  const bytes = Buffer.alloc(4096);
  return () => {
    for (;;) {
      const size = Number(recv(fd, bytes, bytes.length, msgDontwait));
      if (size <= 0) return messages;
      messages.push(bytes.toString("utf8", 0, size));
    }
  };
}

test.skipIf(process.platform !== "linux")(
  "the server tells systemd when it is ready, is alive, restarts as another process, and stops; a server that hangs sends nothing",
  async () => {
    const binary = installBinary();
    const path = join(binary.dir, "notify");
    const read = listenAt(path);
    Object.assign(binary.env, { NOTIFY_SOCKET: path, WATCHDOG_USEC: "200000" });
    const server = await binary.serve("--workers", "2");
    await until("three signs of life", () => read().filter((one) => one === "WATCHDOG=1").length >= 3);
    expect(read()[0]).toBe("READY=1\nWATCHDOG_USEC=200000");
    server.signal("SIGSTOP");
    await Bun.sleep(100);
    const before = read().length;
    await Bun.sleep(500);
    expect(read().length).toBe(before);
    server.signal("SIGCONT");
    server.signal("SIGUSR2");
    await until("the successor", () => read().filter((one) => one.startsWith("READY=1")).length === 2);
    expect(await server.exited).toBe(0);
    const succession = read().find((one) => one.startsWith("MAINPID"));
    const [, pid] = /^MAINPID=(\d+)\nWATCHDOG_USEC=0$/.exec(succession ?? "") ?? [];
    // The old process sends nothing after this, because systemd would think that the new process sent it.
    process.kill(Number(pid), "SIGTERM");
    await until("the end", () => read().at(-1) === "STOPPING=1");
    expect(read().filter((one) => one === "STOPPING=1").length).toBe(1);
  },
  30_000,
);
