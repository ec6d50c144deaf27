import { accessSync, constants, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isTemporary, renderUnit, stateDirectoryOf, unitName } from "../../../server/admin/systemd-unit.ts";
import type { Config } from "../../../server/config/config.ts";
import { unavailable } from "../../../server/errors.ts";
import type { Console } from "../../terminal/console.ts";
import { describeServerProcess } from "../serve/server-process.ts";
import { askYesNo } from "./questions.ts";
import { hasSystemd } from "./run-mode.ts";

const systemUnits = "/etc/systemd/system";

/** The commands that start the service now and at every boot. */
export const startCommands = [
  ["systemctl", "daemon-reload"],
  ["systemctl", "enable", "--now", unitName],
] as const;

/** A systemd unit and its path. */
export interface Unit {
  path: string;
  text: string;
  /** The file at that path. */
  existing: "none" | "same" | "other";
  /** Reasons why the service may not work as it is. */
  warnings: string[];
}

/**
 * The unit that serves this data directory.
 * @throws wrongState for a path that no unit can name, unavailable when an existing unit cannot be read.
 */
export function describeUnit(config: Config, unitDir: string | undefined, console: Console): Unit {
  const { dataDir, port } = config;
  const { command } = describeServerProcess(console);
  const path = join(resolve(unitDir ?? systemUnits), unitName);
  const account = chooseAccount(dataDir);
  const text = renderUnit({ command, dataDir, account, port });
  return { path, text, existing: compareExisting(path, text), warnings: findWarnings(command, dataDir, account) };
}

/**
 * Checks that the unit can be written, before anything else is.
 * @throws unavailable
 */
export function requireWritable({ path, existing }: Unit): void {
  if (existing !== "none") return;
  let dir = dirname(path);
  while (!existsSync(dir)) dir = dirname(dir);
  try {
    accessSync(dir, constants.W_OK);
  } catch (cause) {
    throw unavailable(`This account cannot write ${path}. Run the command as root, or use --print-unit.`, { cause });
  }
}

/** Writes the unit unless there is one. Errors: unavailable. */
export function writeUnit({ path, text, existing }: Unit): boolean {
  if (existing !== "none") return false;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: "wx", mode: 0o644 });
    return true;
  } catch (cause) {
    throw unavailable(`The unit could not be written to ${path}.`, { cause });
  }
}

/** Whether to start the new service: systemd runs on this machine, and a person or --yes agrees. */
export async function confirmStart({ path, existing }: Unit, console: Console): Promise<boolean> {
  if (existing !== "none" || !hasSystemd() || dirname(path) !== systemUnits) return false;
  return console.assumeYes || (console.canAsk && askYesNo("Start the service now and at every boot?", true));
}

/** Starts the service now and at every boot. Errors: unavailable. */
export function startService(): void {
  for (const command of startCommands) {
    const { exitCode, stderr } = Bun.spawnSync([...command], { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
    if (exitCode !== 0) throw unavailable(`${command.join(" ")} failed: ${stderr.toString().trim()}`);
  }
}

/** User and group ids of the data directory, or of this process for a directory that does not exist yet. */
export function ownerOf(dataDir: string): { uid: number; gid: number } {
  if (existsSync(dataDir)) return statSync(dataDir);
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

type Account = Parameters<typeof renderUnit>[0]["account"];

function chooseAccount(dataDir: string): Account {
  if (process.getuid?.() === 0 && stateDirectoryOf(dataDir) !== undefined) return { kind: "dynamic" };
  const { uid, gid } = ownerOf(dataDir);
  return { kind: "static", user: String(uid), group: String(gid) };
}

function findWarnings(command: readonly string[], dataDir: string, account: Account): string[] {
  const [program = ""] = command;
  const user = account.kind === "static" ? account.user : undefined;
  const own = String(process.getuid?.());
  const temporary = [dataDir, ...command].find(isTemporary);
  const warnings = [
    user === "0" &&
      `The unit runs as root because root owns ${dataDir}. Below /var/lib, systemd creates an account for it.`,
    user !== own &&
      !isOpenToAll(program) &&
      `The service's account cannot run ${program}. Move the program to a directory that everyone can read, such as /usr/local/bin.`,
    temporary !== undefined && `${temporary} may be deleted at the next boot. Move it out of the temporary directory.`,
  ];
  return warnings.filter((warning) => warning !== false);
}

function isOpenToAll(path: string): boolean {
  const parent = dirname(path);
  return (statSync(path).mode & 0o001) !== 0 && (parent === path || isOpenToAll(parent));
}

function compareExisting(path: string, text: string): Unit["existing"] {
  try {
    return readFileSync(path, "utf8") === text ? "same" : "other";
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return "none";
    throw unavailable(`${path} cannot be read.`, { cause });
  }
}
