import { writeSync } from "node:fs";

/** The whole terminal, until it is closed. */
export interface Screen {
  size(): { columns: number; rows: number };
  /** Replaces the shown lines. */
  draw(lines: readonly string[]): void;
  /** Resolves to the exit code: 0 for q, 130 for ctrl-C, 143 for SIGTERM, 129 for SIGHUP. */
  left: Promise<number>;
  onResize(act: () => void): void;
  /** Restores the terminal. */
  close(): void;
}

// The alternate screen keeps the content of the terminal. Terminals that support it draw an update at once.
const open = "\u001b[?1049h\u001b[?25l";
const restore = "\u001b[?25h\u001b[?1049l";
const begin = "\u001b[?2026h\u001b[H";
const end = "\u001b[J\u001b[?2026l";

/** 128 and the number of the signal, like a shell. */
const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** Takes over the terminal of standard output, and restores it however the process ends. */
export function openScreen(host: NodeJS.Process): Screen {
  const { stdin, stdout } = host;
  const { promise: left, resolve } = Promise.withResolvers<number>();
  let isOpen = true;
  const onKey = (bytes: Buffer) => {
    const key = bytes.toString();
    // In raw mode ctrl-C is a key.
    if (key.includes("\u0003")) resolve(130);
    else if (/q/i.test(key)) resolve(0);
  };
  const onSignal = (name: NodeJS.Signals) => resolve(exitCodes[name as keyof typeof exitCodes]);
  const signals = ["SIGHUP", "SIGINT", "SIGTERM"] as const;
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    stdin.off("data", onKey);
    if (stdin.isTTY) stdin.setRawMode(false);
    stdin.pause();
    for (const signal of signals) host.off(signal, onSignal);
    host.off("exit", close);
    try {
      // When the process exits, a stream would not be flushed.
      writeSync(stdout.fd, restore);
    } catch {
      // The terminal is gone.
    }
  };
  host.on("exit", close);
  for (const signal of signals) host.on(signal, onSignal);
  if (stdin.isTTY) {
    stdin.setRawMode(true);
    stdin.on("data", onKey);
    stdin.resume();
  }
  stdout.write(open);
  return {
    left,
    close,
    size() {
      const [columns, rows] = stdout.getWindowSize();
      // Some terminals report no size.
      return { columns: columns || 80, rows: rows || 24 };
    },
    draw: (lines) => stdout.write(`${begin}${lines.map((line) => `${line}\u001b[K`).join("\r\n")}${end}`),
    onResize: (act) => stdout.on("resize", act),
  };
}
