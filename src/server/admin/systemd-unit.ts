import { wrongState } from "../errors.ts";
import template from "./systemd-unit.txt" with { type: "text" };

export interface UnitOptions {
  command: readonly string[];
  dataDir: string;
  folders?: readonly string[];
  settings?: Readonly<Record<string, string>>;
  /** Whether the server replicates, so that a standby may take over. */
  hasReplica?: boolean;
  /** An account that systemd creates, or an existing one. */
  account: { kind: "dynamic" } | { kind: "static"; user: string; group: string };
  /** A port below 1024 needs an additional capability. */
  port: number;
}

/** The name of a directory directly in /var/lib, which systemd can manage; undefined for any other directory. */
export function stateDirectoryOf(dataDir: string): string | undefined {
  const [, name] = /^\/var\/lib\/([\w-][\w.-]*)$/.exec(dataDir) ?? [];
  return name === "private" ? undefined : name;
}

/**
 * Renders a unit that starts the server at boot, and lets it use only its directories and the network. It does not set
 * MemoryDenyWriteExecute, because the JavaScript engine compiles code at run time.
 * @throws wrongState for a path that a unit cannot contain.
 */
export function renderUnit(options: UnitOptions): string {
  const { command, dataDir, folders = [], hasReplica = false, settings = {}, account, port } = options;
  const paths = [dataDir, ...folders];
  const [program = "", ...words] = command;
  for (const word of [...command, ...paths]) requireFit(word, word === program ? /["'\\\p{Cc}]/u : /\p{Cc}/u);
  const environment = Object.entries(settings).map((pair) => `Environment=${quoteWord(pair.join("="))}\n`);
  // The unit hides home directories, unless the data or the program is in one of them.
  const isInHome = [...paths, ...command].some((path) => /^\/(?:home|root|run\/user)(?:\/|$)/.test(path));
  const capability = port > 0 && port < 1024 ? "CAP_NET_BIND_SERVICE" : "";
  const values: Record<string, string> = {
    environment: environment.join(""),
    exec: [quoteWord(program), ...[...words, "serve", "--data-dir", dataDir].map(quoteArgument)].join(" "),
    prevention: hasReplica ? "\n# Another server writes to the replica now.\nRestartPreventExitStatus=4" : "",
    account: renderAccount(dataDir, folders, account),
    home: isInHome ? "read-only" : "yes",
    temporary: [...paths, ...command].some(isTemporary) ? "no" : "yes",
    users: capability === "" ? "yes" : "no",
    capability,
  };
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
}

function renderAccount(dataDir: string, folders: readonly string[], account: UnitOptions["account"]): string {
  const name = stateDirectoryOf(dataDir);
  // The minus lets the server start even if the disk with the path is not mounted.
  const writable = folders.map((path) => `\nReadWritePaths=${quoteWord(`-${path}`)}`).join("");
  if (account.kind === "dynamic") {
    const own = folders.map((path) => `\nExecStartPre=-+chown --reference=${dataDir} ${quoteArgument(path)}`).join("");
    return `DynamicUser=yes\nUser=bodega\nStateDirectory=${name ?? "bodega"}\nStateDirectoryMode=0700${writable}${own}`;
  }
  const { user, group } = account;
  return `User=${user}\nGroup=${group}\nReadWritePaths=${quoteWord(dataDir)}${writable}`;
}

/** Throws wrongState for a path that a unit cannot contain: quotes in the program's path, or line breaks. */
function requireFit(path: string, unfit: RegExp): void {
  if (!unfit.test(path)) return;
  const remedy = "Choose a path without quotes, backslashes or line breaks.";
  throw wrongState(`A systemd unit cannot contain ${JSON.stringify(path)}.`, { remedy });
}

/** Whether a path is in a temporary directory. PrivateTmp would hide such a directory, and delete its files. */
export function isTemporary(path: string): boolean {
  return /^\/(?:var\/)?tmp(?:\/|$)/.test(path);
}

/** Quotes an argument. In an argument, unlike in the program's path, `$` starts a variable. */
function quoteArgument(word: string): string {
  return quoteWord(word.replaceAll("$", "$$$$"));
}

/** Quotes a word. In systemd, `%` starts a specifier, even in quotes. */
function quoteWord(word: string): string {
  const text = word.replaceAll("%", "%%");
  return /^[\w@%+=:,./$-]+$/.test(text) ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
}
