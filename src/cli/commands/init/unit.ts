import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { runSystemctl } from "../../../server/admin/systemctl.ts";
import { isTemporary, renderUnit, stateDirectoryOf, unitName } from "../../../server/admin/systemd-unit.ts";
import type { Config } from "../../../server/config/config.ts";
import { ownCommand } from "../../../server/config/own-command.ts";
import { errnoOf, unavailable } from "../../../server/errors.ts";
import { attempt } from "../../../server/values/attempt.ts";
import { askChoice } from "../../terminal/prompt.ts";
import type { InitArgs } from "./flags.ts";

export const runModes = {
  serve: "now, in this terminal",
  systemd: "as a systemd service, now and at every boot",
  none: "do not start it yet",
} as const;

type RunMode = keyof typeof runModes;

const systemUnits = "/etc/systemd/system";

export const startCommands = [
  ["systemctl", "daemon-reload"],
  ["systemctl", "enable", "--now", unitName],
] as const;

/** The run mode from the flags; undefined when they leave it open. Errors: unavailable where only root may install it. */
export function readRunMode(args: InitArgs): RunMode | undefined {
  if (args.systemd && args["unit-dir"] === undefined && process.getuid?.() !== 0) {
    throw unavailable(`This account cannot write to ${systemUnits}. Run the command as root, or use --print-unit.`);
  }
  if (args.systemd) return "systemd";
  if (args.serve === undefined) return undefined;
  return args.serve ? "serve" : "none";
}

export function askRunMode(): Promise<RunMode> {
  const modes = (Object.keys(runModes) as RunMode[]).filter((mode) => mode !== "systemd" || hasSystemd());
  return askChoice(
    "How should the server run?",
    modes.map((value) => ({ value, name: runModes[value] })),
  );
}

export function hasSystemd(): boolean {
  return process.getuid?.() === 0 && existsSync("/run/systemd/system");
}

export type Unit = ReturnType<typeof describeUnit>;

/** The systemd unit and what its file has now; `settings` are for its environment. Errors: wrongState for unusual paths. */
export function describeUnit(config: Config, unitDir: string | undefined, settings = {}) {
  const { dataDir, port, replicateTo = "", backupTo = "" } = config;
  const folders = [replicateTo, backupTo].filter((path) => path.startsWith("/"));
  const outside = folders.filter((path) => !`${path}/`.startsWith(`${dataDir}/`));
  const path = join(resolve(unitDir ?? systemUnits), unitName);
  const account = chooseAccount(dataDir);
  const text = renderUnit({
    command: ownCommand,
    dataDir,
    folders: outside,
    settings,
    hasReplica: config.replicateTo !== undefined,
    account,
    port,
  });
  return { path, text, existing: attempt(() => readFileSync(path, "utf8")), warnings: findWarnings(dataDir, account) };
}

export function writeUnit({ path, text, existing }: Unit): boolean {
  if (existing !== undefined) return false;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: "wx", mode: 0o644 });
    return true;
  } catch (cause) {
    throw unavailable(`The unit could not be written to ${path} (${errnoOf(cause)}).`, { cause });
  }
}

export function startService(): void {
  for (const [, ...words] of startCommands) runSystemctl(...words);
}

type Account = Parameters<typeof renderUnit>[0]["account"];

function chooseAccount(dataDir: string): Account {
  if (process.getuid?.() === 0 && stateDirectoryOf(dataDir) !== undefined) return { kind: "dynamic" };
  // A directory that does not exist yet will be this process's.
  const { uid, gid } = existsSync(dataDir) ? statSync(dataDir) : { uid: process.getuid?.(), gid: process.getgid?.() };
  return { kind: "static", user: String(uid), group: String(gid) };
}

function findWarnings(dataDir: string, account: Account): string[] {
  const [program = ""] = ownCommand;
  const user = account.kind === "static" ? account.user : undefined;
  const temporary = [dataDir, ...ownCommand].find(isTemporary);
  const warnings = [
    user === "0" &&
      `The unit runs as root because root owns ${dataDir}. With a data directory below /var/lib, systemd creates an account for it.`,
    user !== String(process.getuid?.()) &&
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
