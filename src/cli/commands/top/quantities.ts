const byteUnits = ["B", "kB", "MB", "GB", "TB"];

/** A size for people: `4.2 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < byteUnits.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${byteUnits[unit]}`;
}

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

/** A span in seconds by its two largest units: `3d 4h`, `12m 5s`. */
export function formatSpan(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const parts: [number, string][] = [
    [Math.floor(whole / 86_400), "d"],
    [Math.floor(whole / 3600) % 24, "h"],
    [Math.floor(whole / 60) % 60, "m"],
    [whole % 60, "s"],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return "0s";
  const shown = parts.slice(first, first + 2).filter(([count]) => count > 0);
  return shown.map(([count, unit]) => `${count}${unit}`).join(" ");
}
