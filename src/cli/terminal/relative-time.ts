import { formatDuration } from "../../server/values/duration.ts";

/** How long ago or ahead a time is, to its largest unit: `3 hours ago`, `in 12 days`, `now`; `never` for null. */
export function formatRelativeTime(at: string | null, now: number): string {
  if (at === null) return "never";
  const ms = Date.parse(at) - now;
  if (Math.abs(ms) < 1000) return "now";
  return ms < 0 ? `${formatDuration(ms)} ago` : `in ${formatDuration(ms)}`;
}

/** As `formatRelativeTime`, with the time itself: `3 hours ago (2030-01-31T12:00:00Z)`. */
export function formatTime(at: string | null, now: number): string {
  return at === null ? "never" : `${formatRelativeTime(at, now)} (${at.replace(/\.\d+Z$/, "Z")})`;
}
