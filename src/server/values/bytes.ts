export const KiB = 1024;
export const MiB = 1024 * KiB;
export const GiB = 1024 * MiB;

const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];

export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const amount = bytes / 1024 ** power;
  return `${power === 0 || amount >= 100 ? Math.round(amount) : Number(amount.toFixed(1))} ${units[power]}`;
}
