let lastMs = Number.NaN;
let lastText = "";

/** Epoch milliseconds as RFC 3339, UTC. The last text is cached, as many calls are in the same millisecond. */
export function toTimestamp(epochMs: number): string {
  if (epochMs !== lastMs) {
    lastText = new Date(epochMs).toISOString();
    lastMs = epochMs;
  }
  return lastText;
}
