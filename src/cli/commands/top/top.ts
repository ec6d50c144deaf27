import { writeSync } from "node:fs";
import { internalError } from "../../../server/errors.ts";
import type { ServerStatus } from "../../../server/monitoring/read-status.ts";
import { attempt } from "../../../server/values/attempt.ts";
import { readCliConfig } from "../../context/context.ts";
import { durationArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { type Console, invalidFlag, printRecord } from "../../terminal/console.ts";
import { onExit } from "../../terminal/terminal.ts";
import { compareStatus } from "./compare-status.ts";

export default defineCommand({
  description: "Show the activity of the running server: requests, latencies, errors, queues, busiest stores",
  args: {
    interval: durationArg(
      "Time between two updates of the screen (default: 2s); with --once, time to measure rates (default: 1s)",
    ),
    once: { type: "boolean", description: "Print once and exit" },
  },
  examples: ["bodega top --interval 5s", "bodega top --once"],
  notes: [
    "Press q or ctrl-C to quit. Without a terminal, or with --json, the command prints once. Rates and latencies cover the last " +
      "interval, totals the time since the server started. All include all workers. Run the command as the server's user.",
  ],
  async run(args, console) {
    const canDraw = console.stdoutIsTerminal && console.env.TERM !== "dumb";
    const isLive = canDraw && !args.once && !console.json && !console.quiet;
    const intervalMs = args.interval ?? (isLive ? 2000 : 1000);
    if (intervalMs < 1000 || intervalMs > 3_600_000) throw invalidFlag("--interval", "must be from 1s to 1h");
    const { dataDir } = readCliConfig(args, console);
    const { readServerStatus } = await import("../../../server/monitoring/listeners.ts");
    const readStatus = async () => {
      const status = await readServerStatus(dataDir);
      if (status !== null) return status;
      const advice = "Run this command as the server's user, pass its --data-dir, or start it: bodega serve";
      throw internalError(`No running server found in ${dataDir}. ${advice}`);
    };
    if (isLive) return watch(readStatus, intervalMs, console);
    const first = await readStatus();
    await Bun.sleep(intervalMs);
    const activity = compareStatus(first, await readStatus());
    if (console.json || console.quiet) return printRecord(console, activity, "url");
    const { renderTop } = await import("./render-top.ts");
    const lines = renderTop(activity, { columns: console.columns ?? 100, rows: undefined, color: console.color });
    await console.write(`${lines.join("\n")}\n`);
  },
});

async function watch(readStatus: () => Promise<ServerStatus>, intervalMs: number, console: Console): Promise<number> {
  const { renderTop } = await import("./render-top.ts");
  // If no server runs, this throws before the screen is cleared.
  let before = await readStatus();
  let activity = compareStatus(before, before);
  const screen = openScreen(process);
  let note: string | undefined;
  const draw = () => screen.draw(renderTop(activity, { ...screen.size(), color: console.color, note }));
  screen.onResize(draw);
  try {
    draw();
    for (;;) {
      const code = await Promise.race([screen.left, Bun.sleep(intervalMs)]);
      if (code !== undefined) return code;
      // A failure here is not an error: the server may be restarting.
      const next = await Promise.race([screen.left, readStatus().catch(() => undefined)]);
      if (typeof next === "number") return next;
      note = next === undefined ? "The server does not answer. Waiting for it; press q to quit." : undefined;
      if (next !== undefined) {
        activity = compareStatus(before, next);
        before = next;
      }
      draw();
    }
  } finally {
    screen.close();
  }
}

// The alternate screen, which preserves the content of the terminal. `begin` and `end` prevent flicker.
const open = "\u001b[?1049h\u001b[?25l";
const restore = "\u001b[?25h\u001b[?1049l";
const begin = "\u001b[?2026h\u001b[H";
const end = "\u001b[J\u001b[?2026l";

/** Draws on the whole screen until `close` or the end of the process. `left` resolves to the exit code: 0 after q. */
function openScreen({ stdin, stdout }: NodeJS.Process) {
  const { promise: left, resolve } = Promise.withResolvers<number>();
  const onKey = (bytes: Buffer) => {
    const key = bytes.toString();
    // In raw mode, ctrl-C sends this character instead of a signal.
    if (key.includes("\u0003")) resolve(130);
    else if (/q/i.test(key)) resolve(0);
  };
  const restoreTerminal = () => {
    stdin.off("data", onKey).pause();
    if (stdin.isTTY) stdin.setRawMode(false);
    // Writes synchronously, because a stream is not flushed at exit. Fails if the terminal was closed.
    attempt(() => writeSync(stdout.fd, restore));
  };
  const keep = onExit(restoreTerminal);
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.on("data", onKey).resume();
  stdout.write(open);
  return {
    left,
    close() {
      keep();
      restoreTerminal();
    },
    size() {
      const [columns, rows] = stdout.getWindowSize();
      // Some terminals report no size.
      return { columns: columns || 80, rows: rows || 24 };
    },
    draw: (lines: readonly string[]) =>
      stdout.write(`${begin}${lines.map((line) => `${line}\u001b[K`).join("\r\n")}${end}`),
    onResize: (act: () => void) => stdout.on("resize", act),
  };
}
