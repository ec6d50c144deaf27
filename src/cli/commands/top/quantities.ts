/** A time in milliseconds for people: `0.42 ms`, `12 ms`, `1.5 s`; `-` for none. */
export function formatMs(ms: number | null): string {
  if (ms === null) return "-";
  if (ms >= 999.5) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms >= 9.95 ? Math.round(ms) : ms >= 1 ? ms.toFixed(1) : ms.toFixed(2)} ms`;
}

/** How often, for people: whole from ten on. */
export function formatCount(count: number): string {
  return count >= 9.95 || count === 0 ? String(Math.round(count)) : count.toFixed(1);
}
