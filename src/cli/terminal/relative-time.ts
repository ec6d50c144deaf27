const units: [name: string, ms: number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
];

/** How long ago or ahead a time is, to its largest unit: `3 hours ago`, `in 12 days`, `now`; `never` for null. */
export function formatAge(at: string | null, now: number): string {
  if (at === null) return "never";
  const ms = Date.parse(at) - now;
  const [unit, length] = units.find(([, length]) => Math.abs(ms) >= length) ?? [];
  if (unit === undefined || length === undefined) return "now";
  const count = Math.round(Math.abs(ms) / length);
  const span = `${count} ${unit}${count === 1 ? "" : "s"}`;
  return ms < 0 ? `${span} ago` : `in ${span}`;
}

/** The same with the time itself: `3 hours ago (2030-01-31T12:00:00Z)`. */
export function formatMoment(at: string | null, now: number): string {
  return at === null ? "never" : `${formatAge(at, now)} (${at.replace(/\.\d+Z$/, "Z")})`;
}
