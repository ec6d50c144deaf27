const msPerUnit: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const form = /^(\d{1,9})([smhdw])$/;

/** A span such as `90d`, `24h`, `30m`, `45s` or `2w` in milliseconds; undefined for what is none. */
export function readSpan(text: string): number | undefined {
  const [, amount, unit] = form.exec(text) ?? [];
  return unit === undefined ? undefined : Number(amount) * (msPerUnit[unit] as number);
}
