export const KiB = 1024;
export const MiB = 1024 * KiB;
export const GiB = 1024 * MiB;

const byteUnits = ["bytes", "KiB", "MiB", "GiB", "TiB"];

export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), byteUnits.length - 1);
  const amount = bytes / 1024 ** power;
  return `${power === 0 || amount >= 100 ? Math.round(amount) : Number(amount.toFixed(1))} ${byteUnits[power]}`;
}

const msPerUnit: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const form = /^(\d{1,9})([smhdw])$/;
const timeUnits = { day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1000 };

/** Parses a duration such as `90d`, `24h`, `30m`, `45s` or `2w` to milliseconds; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = form.exec(text) ?? [];
  return unit === undefined ? undefined : Number(amount) * (msPerUnit[unit] as number);
}

/** Formats a duration as `3 days` or `1 hour`, without a sign. With `isExact`, nothing is rounded: `36 hours`. */
export function formatDuration(ms: number, isExact = false): string {
  // With 1% of tolerance, 59 minutes and 59 seconds count as an hour, not as 60 minutes.
  const fits = (length: number) => (isExact ? ms % length === 0 : Math.abs(ms) >= 0.99 * length);
  const [unit, length] = Object.entries(timeUnits).find(([, length]) => fits(length)) ?? ["second", 1000];
  const count = Math.round(Math.abs(ms) / length);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/**
 * Reads a time of RFC 3339, or a day, which means its beginning in UTC. The seconds may be missing.
 * @returns epoch milliseconds; undefined for any other text.
 */
export function readTime(text: string): number | undefined {
  const form = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d))?$/;
  const [, day, time = "00:00", fraction = "", zone = "Z"] = form.exec(text.toUpperCase()) ?? [];
  const ms = Date.parse(`${day}T${time.padEnd(8, ":00")}.${fraction.slice(0, 3).padEnd(3, "0")}${zone}`);
  // `Date` moves an invalid day, such as 31 February, into the next month, so the result is compared.
  const isDay = day !== undefined && new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day);
  return isDay && !Number.isNaN(ms) ? ms : undefined;
}
