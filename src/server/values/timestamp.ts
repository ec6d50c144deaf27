let lastMs = Number.NaN;
let lastText = "";

/**
 * Epoch milliseconds as RFC 3339 in UTC with milliseconds, the form of every time in replies and in the database. Many
 * calls fall into the same millisecond, so the last text is kept.
 */
export function toTimestamp(epochMs: number): string {
  if (epochMs !== lastMs) {
    lastText = new Date(epochMs).toISOString();
    lastMs = epochMs;
  }
  return lastText;
}
