import { accessSync, constants, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isTemporary, renderUnit, stateDirectoryOf, unitName } from "../../../server/admin/systemd-unit.ts";
import type { Config } from "../../../server/config/config.ts";
import { unavailable } from "../../../server/errors.ts";
import { isExecutable } from "../../terminal/build-info.ts";
import type { Console } from "../../terminal/console.ts";
import { askYesNo } from "./questions.ts";

const systemUnits = "/etc/systemd/system";

/** A unit, where it belongs, and what stands there. */
export interface Unit {
  path: string;
  text: string;
  /** What is there already and differs; null where there is nothing, undefined where there is the same. */
  standing: string | null | undefined;
  /** What somebody should know before it runs. */
  warning: string | undefined;
}

/**
 * The unit that serves this shop.
 * @throws wrongState for a program that no unit can name, unavailable when the unit cannot be read.
 */
export function describeUnit(config: Config, unitDir: string | undefined): Unit {
  const path = join(resolve(unitDir ?? systemUnits), unitName);
  const { account, warning } = chooseAccount(config.dataDir);
  const [program = ""] = ownCommand();
  const text = renderUnit({ command: ownCommand(), dataDir: config.dataDir, account, port: config.port });
  const warnings = [warning ?? warnOfProgram(program, account), warnOfTemporary([config.dataDir, ...ownCommand()])];
  return { path, text, standing: readStanding(path, text), warning: warnings.filter(Boolean).join(" ") || undefined };
}

/**
 * Makes sure that a unit can be written, before anything else is.
 * @throws unavailable that says what to do instead.
 */
export function requireWritable({ path, standing }: Unit): void {
  if (standing !== null) return;
  try {
    accessSync(firstStanding(dirname(path)), constants.W_OK);
  } catch (cause) {
    throw unavailable(`${path} cannot be written by this account. Run it as root, or use --print-unit.`, {
      cause,
    });
  }
}

/** Writes a unit where there is none. Errors: unavailable. */
export function writeUnit({ path, text, standing }: Unit): boolean {
  if (standing !== null) return false;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: "wx", mode: 0o644 });
    return true;
  } catch (cause) {
    throw unavailable(`The unit cannot be written to ${path}.`, { cause });
  }
}

/** The commands that start a service now, and with the machine. */
export const startCommands = [
  ["systemctl", "daemon-reload"],
  ["systemctl", "enable", "--now", unitName],
] as const;

/** Whether the service is to be started: where systemd runs, and somebody agrees. */
export async function agreeToStart({ path }: Unit, console: Console): Promise<boolean> {
  const canStart = process.getuid?.() === 0 && existsSync("/run/systemd/system") && dirname(path) === systemUnits;
  if (!canStart || !(console.assumeYes || console.canAsk)) return false;
  return console.assumeYes || askYesNo("Start it now, and with the machine from now on?", true);
}

/**
 * Starts the service now, and with the machine.
 * @throws unavailable when systemd refuses.
 */
export function startService(): void {
  for (const command of startCommands) {
    const { exitCode, stderr } = Bun.spawnSync([...command], { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
    if (exitCode !== 0) throw unavailable(`${command.join(" ")} failed: ${stderr.toString().trim()}`);
  }
}

/** A compose file that serves this folder from a container; its program is the image of the Dockerfile. */
export function describeCompose(config: Config): { text: string; warning: string | undefined } {
  const { uid } = ownerOf(config.dataDir);
  const warning = `The container's program runs as root, since ${config.dataDir} is root's: give the folder to another account.`;
  return { text: renderCompose(config), warning: uid === 0 ? warning : undefined };
}

function renderCompose(config: Config): string {
  const { uid, gid } = ownerOf(config.dataDir);
  const quote = (text: string) => JSON.stringify(text).replaceAll("$", "$$$$");
  return `services:
  bodega:
    image: bodega
    restart: unless-stopped
    user: "${uid}:${gid}"
    ports:
      - "127.0.0.1:${config.port === 0 ? 8080 : config.port}:8080"
    volumes:
      - type: bind
        source: ${quote(config.dataDir)}
        target: /data
    read_only: true
    tmpfs:
      - /tmp:exec,mode=1777
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    stop_grace_period: 30s
`;
}

/** How this program is started again. */
export function ownCommand(): string[] {
  return isExecutable ? [process.execPath] : [process.execPath, Bun.main];
}

type Account = Parameters<typeof renderUnit>[0]["account"];

function chooseAccount(dataDir: string): { account: Account; warning?: string } {
  const own = process.getuid?.();
  if (own === 0 && stateDirectoryOf(dataDir) !== undefined) return { account: { kind: "dynamic" } };
  const { uid, gid } = ownerOf(dataDir);
  const account = { kind: "static" as const, user: String(uid), group: String(gid) };
  if (uid === 0) {
    return {
      account,
      warning: `The unit runs as root, since ${dataDir} is root's. Below /var/lib systemd makes an account for it.`,
    };
  }
  if (uid === own) return { account };
  return { account, warning: `${dataDir} belongs to the account ${uid}, and the unit runs as that.` };
}

/** An account of the service's own can start only what everyone can. */
function warnOfProgram(program: string, account: Account): string | undefined {
  const isOwn = account.kind === "static" && account.user === String(process.getuid?.());
  if (isOwn || isOpenToAll(program)) return undefined;
  return `The service's account cannot start ${program}: put the program where everyone can, such as /usr/local/bin.`;
}

function warnOfTemporary(paths: readonly string[]): string | undefined {
  const path = paths.find(isTemporary);
  return (
    path && `${path} may be gone when the machine starts again, since temporary folders are emptied: move it first.`
  );
}

function isOpenToAll(path: string): boolean {
  const parent = dirname(path);
  return (statSync(path).mode & 0o001) !== 0 && (parent === path || isOpenToAll(parent));
}

function ownerOf(dataDir: string): { uid: number; gid: number } {
  if (existsSync(dataDir)) return statSync(dataDir);
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

function readStanding(path: string, text: string): string | null | undefined {
  try {
    const standing = readFileSync(path, "utf8");
    return standing === text ? undefined : standing;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw unavailable(`${path} cannot be read.`, { cause });
  }
}

function firstStanding(dir: string): string {
  return existsSync(dir) || dir === dirname(dir) ? dir : firstStanding(dirname(dir));
}
