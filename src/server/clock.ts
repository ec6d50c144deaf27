/** Epoch milliseconds as RFC 3339 in UTC with milliseconds, the form of every time in replies and in the database. */
export function toTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
