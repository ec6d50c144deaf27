import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { isTemporary, renderUnit, stateDirectoryOf } from "../../../server/admin/systemd-unit.ts";
import { ownCommand } from "../../../server/config/own-command.ts";
import { readCliConfig } from "../../context/context.ts";
import type { Console } from "../../terminal/console.ts";
import { printJson, warn } from "../../terminal/output.ts";
import { checkFlags, type InitArgs, readSettings } from "./flags.ts";

/** Prints a systemd unit that starts a server with these flags. Errors: wrongState for unusual paths. */
export async function printUnit(args: InitArgs, console: Console): Promise<void> {
  checkFlags(args);
  const config = readCliConfig(args, console);
  const { dataDir, port, replicateTo = "", backupTo = "" } = config;
  const mailFile = args["smtp-url-file"];
  const account = chooseAccount(dataDir);
  const text = renderUnit({
    command: ownCommand,
    dataDir,
    folders: [replicateTo, backupTo].filter((path) => path.startsWith("/") && !`${path}/`.startsWith(`${dataDir}/`)),
    // Everyone can read a unit, so it names the file of a secret instead of the secret.
    settings: { ...readSettings(args), ...(mailFile && { BODEGA_SMTP_URL_FILE: resolve(mailFile) }) },
    hasReplica: config.replicateTo !== undefined,
    account,
    port,
  });
  if (account.kind === "static" && account.user === "0") {
    const remedy = "With a data directory below /var/lib, systemd creates an account for it.";
    await warn(console, `The unit runs as root because root owns ${dataDir}. ${remedy}`);
  }
  const temporary = [dataDir, ...ownCommand].find(isTemporary);
  if (temporary !== undefined) await warn(console, `${temporary} may be deleted at the next boot. Move it elsewhere.`);
  // A service does not inherit this environment.
  const isLost = (name: string) => /^BODEGA_(?!DATA_DIR|NAMESPACE|WORKER$)/.test(name) && console.env[name];
  const names = Object.keys(console.env).filter(isLost).join(", ");
  if (names !== "")
    await warn(console, `The service does not see ${names} of this environment. Use bodega.env instead.`);
  await (console.json ? printJson(console, { text }) : console.write(text));
}

function chooseAccount(dataDir: string): Parameters<typeof renderUnit>[0]["account"] {
  if (process.getuid?.() === 0 && stateDirectoryOf(dataDir) !== undefined) return { kind: "dynamic" };
  // A directory that does not exist yet will belong to this process's account.
  const { uid, gid } = existsSync(dataDir) ? statSync(dataDir) : { uid: process.getuid?.(), gid: process.getgid?.() };
  return { kind: "static", user: String(uid), group: String(gid) };
}
