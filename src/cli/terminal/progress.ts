import type { Console } from "./console.ts";
import { truncateText } from "./table.ts";

/** A line on standard error that shows how far a long command is. */
export interface Progress {
  /** @param done out of the total; `note` is printed after the bar. */
  show(done: number, note: string): void;
  end(): void;
}

const barWidth = 30;
const minIntervalMs = 100;
const clearLine = "\r\u001b[K";

/** Begins a progress line at a terminal, and otherwise nothing. Without a total only the note is shown. */
export function startProgress({ screen, quiet, json }: Console, total: number | undefined): Progress {
  if (!screen || quiet || json) return { show() {}, end() {} };
  let drawnAt = Number.NEGATIVE_INFINITY;
  return {
    show(done, note) {
      const now = performance.now();
      if (now - drawnAt < minIntervalMs) return;
      drawnAt = now;
      screen.write(clearLine + truncateText(drawBar(done, total) + note, screen.columns - 1));
    },
    end: () => void screen.write(clearLine),
  };
}

function drawBar(done: number, total: number | undefined): string {
  if (total === undefined) return "";
  const share = total === 0 ? 1 : Math.min(done / total, 1);
  const filled = Math.round(share * barWidth);
  return `[${"#".repeat(filled)}${"-".repeat(barWidth - filled)}] ${Math.floor(share * 100)}% `;
}
