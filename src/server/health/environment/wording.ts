const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
const spans: [name: string, ms: number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
];

/** A size for people: `512 bytes`, `1.5 GiB`. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const amount = bytes / 1024 ** power;
  return `${power === 0 || amount >= 100 ? Math.round(amount) : Number(amount.toFixed(1))} ${units[power]}`;
}

/** A span for people in its largest whole unit: `3 days`, `1 hour`, `0 seconds`. */
export function formatSpan(ms: number): string {
  const [name, length] = spans.find(([, length]) => Math.abs(ms) >= length) ?? ["second", 1000];
  return countOf(Math.floor(Math.abs(ms) / length), name);
}

/** `1 mail`, `3 mails`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** A file's mode as people write it: `0644`. */
export function formatMode(mode: number): string {
  return `0${(mode & 0o777).toString(8).padStart(3, "0")}`;
}
