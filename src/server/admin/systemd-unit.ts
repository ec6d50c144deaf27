import { wrongState } from "../errors.ts";

/** What a unit is made of. */
export interface UnitOptions {
  /** The program and its first words; the first is an absolute path. */
  command: readonly string[];
  /** Absolute. */
  dataDir: string;
  /** Who it runs as: an account that systemd makes for it, or one that there is. */
  account: { kind: "dynamic" } | { kind: "static"; user: string; group: string };
  /** Below 1024, it needs a right that it otherwise does not have. */
  port: number;
}

export const unitName = "bodega.service";

const stateRoot = "/var/lib/";

/** The folder's name below /var/lib, where systemd can look after it; undefined elsewhere. */
export function stateDirectoryOf(dataDir: string): string | undefined {
  const name = dataDir.startsWith(stateRoot) ? dataDir.slice(stateRoot.length) : "";
  return /^[\w-][\w.-]*$/.test(name) && name !== "private" ? name : undefined;
}

/**
 * A unit that starts the server at boot, and lets it reach nothing but its own folder and the network. There is no
 * MemoryDenyWriteExecute: the engine compiles what it runs.
 * @throws wrongState for a path that no unit can name.
 */
export function renderUnit({ command, dataDir, account, port }: UnitOptions): string {
  const [program = "", ...words] = command;
  requirePlain(program, /["'\\\p{Cc}]/u);
  requirePlain(dataDir, /\p{Cc}/u);
  const exec = [quoteWord(program), ...[...words, "serve", "--data-dir", dataDir].map(quoteArgument)].join(" ");
  const capability = port > 0 && port < 1024 ? "CAP_NET_BIND_SERVICE" : "";
  return `[Unit]
Description=Bodega, the back end of a shop
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
ExecStart=${exec}
Restart=on-failure
RestartSec=2
# Requests that have begun are given ten seconds.
TimeoutStopSec=30
KillMode=mixed
LimitNOFILE=65536
UMask=0077
${renderAccount(dataDir, account)}
ProtectSystem=strict
ProtectHome=${protectHome([dataDir, ...command])}
PrivateTmp=${[dataDir, ...command].some(isTemporary) ? "no" : "yes"}
PrivateDevices=yes
PrivateUsers=${capability === "" ? "yes" : "no"}
NoNewPrivileges=yes
CapabilityBoundingSet=${capability}
AmbientCapabilities=${capability}
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
LockPersonality=yes
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallErrorNumber=EPERM
SystemCallFilter=@system-service
SystemCallFilter=~@privileged

[Install]
WantedBy=multi-user.target
`;
}

function renderAccount(dataDir: string, account: UnitOptions["account"]): string {
  const name = stateDirectoryOf(dataDir);
  if (account.kind === "dynamic") {
    return `DynamicUser=yes\nUser=bodega\nStateDirectory=${name ?? "bodega"}\nStateDirectoryMode=0700`;
  }
  const { user, group } = account;
  return `User=${escapeSpecifiers(user)}\nGroup=${escapeSpecifiers(group)}\nReadWritePaths=${quoteWord(dataDir)}`;
}

/** systemd takes no such path, however it is written: quotes in a program's, line breaks anywhere. */
function requirePlain(path: string, unfit: RegExp): void {
  if (!unfit.test(path)) return;
  throw wrongState(
    `A unit cannot name ${JSON.stringify(path)}: choose a path without quotes, backslashes and line breaks.`,
  );
}

/** Homes stay out of sight, unless the data or the program lies in one. */
function protectHome(paths: readonly string[]): "yes" | "read-only" {
  return paths.some((path) => /^\/(?:home|root|run\/user)(?:\/|$)/.test(path)) ? "read-only" : "yes";
}

/** Below a folder that a unit otherwise has one of its own for, where nothing of the machine's is seen, and that is emptied. */
export function isTemporary(path: string): boolean {
  return /^\/(?:var\/)?tmp(?:\/|$)/.test(path);
}

/** An argument: `$` begins a variable there, but neither in the program's path nor in other settings. */
function quoteArgument(word: string): string {
  return quoteWord(word.replaceAll("$", "$$$$"));
}

/** A word as systemd reads it: `%` begins a specifier wherever it stands, between quotes too. */
function quoteWord(word: string): string {
  const text = escapeSpecifiers(word);
  if (/^[\w@%+=:,./$-]+$/.test(text)) return text;
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

function escapeSpecifiers(text: string): string {
  return text.replaceAll("%", "%%");
}
