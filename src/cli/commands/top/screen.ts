import { writeSync } from "node:fs";

/** The whole terminal, for as long as something is drawn there. */
export interface Screen {
  size(): { columns: number; rows: number };
  /** Shows the lines in place of those before. */
  draw(lines: readonly string[]): void;
  /** Settles with the exit code when somebody leaves: 0 for q, 130 for ctrl-C, 143 when asked to end, 129 without its terminal. */
  left: Promise<number>;
  onResize(act: () => void): void;
  /** Gives the terminal back as it was. */
  close(): void;
}

// The other screen keeps what stood in the terminal; what is drawn between the last two appears at once, where terminals know that.
const open = "\u001b[?1049h\u001b[?25l";
const restore = "\u001b[?25h\u001b[?1049l";
const begin = "\u001b[?2026h\u001b[H";
const end = "\u001b[J\u001b[?2026l";

/** As a shell tells of what a signal has ended. */
const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** Takes over the terminal that standard output is. However the process ends, the terminal is given back. */
export function openScreen(host: NodeJS.Process): Screen {
  const { stdin, stdout } = host;
  const { promise: left, resolve } = Promise.withResolvers<number>();
  let isOpen = true;
  const onKey = (bytes: Buffer) => {
    const key = bytes.toString();
    // In raw mode ctrl-C is a key like others.
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
      // At the end of the process nothing waits for a stream any more.
      writeSync(stdout.fd, restore);
    } catch {
      // The terminal has gone.
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
      // Some terminals do not say how large they are.
      return { columns: columns || 80, rows: rows || 24 };
    },
    draw: (lines) => stdout.write(`${begin}${lines.map((line) => `${line}\u001b[K`).join("\r\n")}${end}`),
    onResize: (act) => stdout.on("resize", act),
  };
}
