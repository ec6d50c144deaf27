const form = /^bodega-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)\.(\d{3})Z\.tar\.gz$/;

/** What every backup's file of ours ends with. */
export const backupEnding = ".tar.gz";

/** The name of a backup that is made now: `bodega-20261121T104512.345Z.tar.gz`; names sort by age. */
export function makeBackupName(now: Date): string {
  return `bodega-${now.toISOString().replace(/[-:]/g, "")}${backupEnding}`;
}

/** When a backup of that name was made, in epoch milliseconds; undefined for every name that is not ours. */
export function readBackupTime(name: string): number | undefined {
  const [, year, month, day, hour, minute, second, ms] = form.exec(name) ?? [];
  if (ms === undefined) return undefined;
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
  return Number.isNaN(time) ? undefined : time;
}
