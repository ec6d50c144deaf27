import { closeSync, fchownSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { unavailable } from "../errors.ts";
import { makeDataDir } from "./data-dir.ts";
import { formatSetting, readSettings, readSettingsText, settingsPath } from "./env-file.ts";

const heading =
  "# Settings of this shop, for the server and for every command on this folder. Environment and flags beat them.\n";

/** What became of the settings that were to stand in a data directory. */
export interface WrittenSettings {
  path: string;
  /** Names that were not there before. */
  written: string[];
  /** Names that stand there with another value, which is left. */
  kept: string[];
}

/**
 * Adds settings to `bodega.env` of a data directory, readable by its owner only. What stands there stays as it is.
 * @throws validationFailed for a value that cannot be written, unavailable when the file cannot be.
 */
export function addSettings(dataDir: string, wanted: Record<string, string>): WrittenSettings {
  const path = settingsPath(dataDir);
  const { missing, kept } = compareSettings(dataDir, wanted);
  const lines = missing.map((name) => formatSetting(name, wanted[name] as string));
  if (lines.length > 0) {
    const before = readSettingsText(dataDir);
    const gap = before === undefined || before === "" || before.endsWith("\n") ? "" : "\n";
    writeWhole(dataDir, path, `${before ?? heading}${gap}${lines.join("\n")}\n`, before === undefined);
  }
  return { path, written: missing, kept };
}

/**
 * Which of the wanted settings are missing from `bodega.env`, and which stand there with another value.
 * @throws validationFailed where the file cannot be read.
 */
export function compareSettings(
  dataDir: string,
  wanted: Record<string, string>,
): { missing: string[]; kept: string[] } {
  const standing = readSettings(dataDir) ?? {};
  const settingOf = (name: string) => standing[name] || standing[`${name}_FILE`];
  const names = Object.keys(wanted);
  return {
    missing: names.filter((name) => !settingOf(name)),
    kept: names.filter((name) => settingOf(name) && standing[name] !== wanted[name]),
  };
}

/** Written aside first, so that nobody ever reads half of it; where there was none, none that came meanwhile is replaced. */
function writeWhole(dataDir: string, path: string, text: string, isNew: boolean): void {
  const aside = `${path}.${process.pid}`;
  try {
    makeDataDir(dataDir);
    const file = openSync(aside, "w", 0o600);
    try {
      writeSync(file, text);
      // Written by root, it must still be there for the account that serves.
      if (process.getuid?.() === 0) fchownSync(file, statSync(dataDir).uid, statSync(dataDir).gid);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (isNew) linkSync(aside, path);
    else renameSync(aside, path);
  } catch (cause) {
    throw unavailable(`The settings cannot be written to ${path}.`, { cause });
  } finally {
    rmSync(aside, { force: true });
  }
}
