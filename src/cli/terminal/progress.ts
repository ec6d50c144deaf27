import type { Console } from "./console.ts";
import { truncateText } from "./text.ts";

type ShowProgress = (done: number, note: string) => void;

const barWidth = 30;
const minIntervalMs = 100;
const clearLine = "\r\u001b[K";

export async function withProgress<T>(
  { screen, quiet, json }: Console,
  total: number | undefined,
  work: (show: ShowProgress) => Promise<T>,
): Promise<T> {
  if (!screen || quiet || json) return work(() => {});
  let drawnAt = Number.NEGATIVE_INFINITY;
  const show: ShowProgress = (done, note) => {
    const now = performance.now();
    if (now - drawnAt < minIntervalMs) return;
    drawnAt = now;
    screen.write(clearLine + truncateText(drawBar(done, total) + note, screen.columns - 1));
  };
  try {
    return await work(show);
  } finally {
    screen.write(clearLine);
  }
}

function drawBar(done: number, total: number | undefined): string {
  if (total === undefined) return "";
  const share = total === 0 ? 1 : Math.min(done / total, 1);
  const filled = Math.round(share * barWidth);
  return `[${"#".repeat(filled)}${"-".repeat(barWidth - filled)}] ${Math.floor(share * 100)}% `;
}
