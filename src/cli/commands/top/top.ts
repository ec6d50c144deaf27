import { internalError } from "../../../server/errors.ts";
import type { ServerStatus } from "../../../server/monitoring/server-status.ts";
import { readCliConfig } from "../../context/read-config.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseDuration } from "../../framework/parse-values.ts";
import { commandLine } from "../../terminal/command-line.ts";
import type { Console } from "../../terminal/console.ts";
import { printRecord } from "../../terminal/output.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { compareStatus, type ServerActivity } from "./compare-status.ts";

const longestMs = 3_600_000;
/** Rates need two looks, and nobody should wait long for the first of them. */
const firstMs = 1000;

type Look = (signal?: AbortSignal) => Promise<ServerStatus>;

export default defineCommand({
  name: "top",
  description: "Watch the running server: requests, latencies, errors, sign-ins, busiest stores",
  args: {
    interval: {
      type: "string",
      valueHint: "duration",
      description: "Time from one look to the next (default: 2s; 1s for a single look)",
    },
    once: { type: "boolean", description: "Look once, print what was seen, and end" },
  },
  examples: ["bodega top", "bodega top --interval 5s", "bodega top --once", "bodega top --json"],
  notes: [
    "q leaves (exit code 0), and so does ctrl-C (130). Without a terminal, at one that cannot be drawn on " +
      "(TERM=dumb), and with --json, it looks once. Rates and latencies are those between two looks. Counts run from the start of the server, over all workers.",
    "It asks the server of the data directory on this machine, as the account that the server runs under.",
  ],
  async run(args, console) {
    const canDraw = console.stdoutIsTerminal && console.env.TERM !== "dumb";
    const isLive = canDraw && !args.once && !console.json && !console.quiet;
    const intervalMs = parseDuration("--interval", args.interval ?? (isLive ? "2s" : "1s"));
    if (intervalMs < 1000 || intervalMs > longestMs) {
      const message = "must be from 1s to 1h";
      throw new UsageError(`--interval ${message}.`, { details: [{ field: "--interval", message }] });
    }
    const { dataDir } = readCliConfig(args, console);
    const { askServer } = await import("../../../server/monitoring/control-socket.ts");
    const look: Look = async (signal) => {
      const reply = await askServer(dataDir, "/status", signal);
      if (reply?.ok) return (await reply.json()) as ServerStatus;
      throw internalError(
        `No server of ${dataDir} answers this account. Start one with ${commandLine(args)("serve")}, or name its --data-dir.`,
      );
    };
    if (isLive) return watch(look, intervalMs, console);
    const activity = await lookTwice(look, intervalMs);
    if (console.json || console.quiet) return printRecord(console, activity, "url");
    const { renderTop } = await import("./render-top.ts");
    const lines = renderTop(activity, { columns: console.columns ?? 100, rows: undefined, color: console.color });
    await console.write(`${lines.join("\n")}\n`);
  },
});

async function lookTwice(look: Look, intervalMs: number): Promise<ServerActivity> {
  const first = await look();
  await Bun.sleep(intervalMs);
  return compareStatus(first, await look());
}

async function watch(look: Look, intervalMs: number, console: Console): Promise<number> {
  const { renderTop } = await import("./render-top.ts");
  const { openScreen } = await import("./screen.ts");
  // Whoever has no server to watch should not see the screen change for it.
  let before = await look();
  let activity = compareStatus(before, before);
  let pauseMs = Math.min(firstMs, intervalMs);
  console.releaseSignals();
  const screen = openScreen(process);
  const leaving = new AbortController();
  let note: string | undefined;
  const draw = () => screen.draw(renderTop(activity, { ...screen.size(), color: console.color, note }));
  screen.onResize(draw);
  try {
    draw();
    for (;;) {
      const code = await Promise.race([screen.left, Bun.sleep(pauseMs)]);
      if (code !== undefined) return code;
      // A server that is started again is waited for.
      const next = await Promise.race([screen.left, look(leaving.signal).catch(() => undefined)]);
      if (typeof next === "number") return next;
      note = next === undefined ? "The server does not answer. Waiting for it; q leaves." : undefined;
      if (next !== undefined) {
        activity = compareStatus(before, next);
        before = next;
        pauseMs = intervalMs;
      }
      draw();
    }
  } finally {
    leaving.abort();
    screen.close();
  }
}
