import type { Console } from "./console.ts";

/** A bar on standard error that shows how far a long command is. */
export interface Progress {
  /** @param done out of the total; `note` stands behind the bar. */
  show(done: number, note: string): void;
  /** Takes it away. */
  end(): void;
}

/** Begins a bar where somebody watches, and otherwise nothing. Without a total only the note is shown. */
export async function startProgress(console: Console, total: number | undefined): Promise<Progress> {
  if (!console.screen || console.quiet || console.json) return { show() {}, end() {} };
  const { default: cliProgress } = await import("cli-progress");
  const bar = new cliProgress.SingleBar({
    stream: console.screen,
    format: total === undefined ? "{note}" : "[{bar}] {percentage}% {note}",
    barCompleteChar: "#",
    barIncompleteChar: "-",
    barsize: 30,
    clearOnComplete: true,
    // The command itself hears of ctrl-C.
    gracefulExit: false,
    linewrap: null,
  });
  bar.start(total ?? 1, 0, { note: "" });
  return {
    show: (done, note) => bar.update(total === undefined ? 0 : Math.min(done, total), { note }),
    end: () => bar.stop(),
  };
}
