import { existsSync, statSync } from "node:fs";
import { relative, resolve } from "node:path";
import { isTemporary, renderUnit, stateDirectoryOf } from "../../../server/admin/systemd-unit.ts";
import { defaultDataDir } from "../../../server/config/environment.ts";
import { ownCommand } from "../../../server/config/own-command.ts";
import { currencyDigits } from "../../../server/modules/tenants/input.ts";
import { addressOf, othersOf } from "../../../server/runtime/port.ts";
import { quoteWord } from "../../../server/values/shell-quote.ts";
import { readCliConfig } from "../../context/context.ts";
import { programName } from "../../terminal/command-line.ts";
import { type Console, info, printJson, warn } from "../../terminal/console.ts";
import { escapeControls, renderFields, wrapWords } from "../../terminal/text.ts";
import { toUserRecord } from "../user/user.ts";
import { checkFlags, type InitArgs, readSettings } from "./flags.ts";
import type { Outcome } from "./plan.ts";

export async function printOutcome(console: Console, outcome: Outcome): Promise<void> {
  if (console.json) return printJson(console, toJson(outcome));
  const { key, password } = outcome.secrets;
  if (console.quiet) {
    const { store, owner, key: issued } = outcome.setup;
    const id = issued?.app_id ?? store.namespace;
    const lines = [key === undefined ? id : `${id}:${key}`, password && `${owner?.id}:${password}`];
    return console.write(lines.map((line) => (line ? `${escapeControls(line)}\n` : "")).join(""));
  }
  for (const sentence of outcome.kept) await info(console, `kept: ${sentence}`);
  await console.write(formatGuide(outcome, outcome.runningUrl ?? addressOf(outcome.config), console.columns));
  if ((key ?? password) !== undefined) await warn(console, "Save the secrets now. They won't be shown again.");
}

function toJson({ setup, secrets, files, settings, config, kept, runningUrl }: Outcome) {
  const { store, owner, key, made } = setup;
  return {
    namespace: store.namespace,
    store,
    owner: owner && { ...toUserRecord(owner), password: secrets.password, password_file: files.password },
    key: key && { ...key, app_secret: secrets.key, secret_file: files.key },
    mail: config.smtpUrl ? { host: mailHost(config), from: config.mailFrom } : null,
    url: runningUrl ?? addressOf(config),
    data_dir: config.dataDir,
    settings_file: settings.path,
    settings: settings.written,
    made: Object.entries(made).flatMap(([name, isMade]) => (isMade ? [name] : [])),
    kept,
  };
}

function formatGuide(outcome: Outcome, url: string, columns: number | undefined): string {
  const store = renderFields(listFields(outcome, url), { width: columns, color: false }).trimEnd();
  const steps = listSteps(outcome, url).map(([title = "", ...lines]) => {
    const heading = wrapWords(title, (columns ?? Number.POSITIVE_INFINITY) - 2).map((line) => `# ${line}`);
    // Commands are not wrapped here, because a line that the terminal wraps is copied as one line.
    return [...heading, ...lines].join("\n");
  });
  return `\n${[store, ...steps].join("\n\n")}\n\n`;
}

function mailHost({ smtpUrl }: Outcome["config"]): string | undefined {
  return smtpUrl && new URL(smtpUrl).host;
}

function listFields({ setup, config, files, settings, secrets }: Outcome, url: string): [string, string][] {
  const { store, owner, key } = setup;
  const rows: [label: string, value: string | false | null | undefined][] = [
    ["Store", `${store.title}, ${store.currency}, ${store.language}`],
    ["Namespace", store.namespace],
    ["Owner", owner?.email],
    ["Password", secrets.password ?? (files.password && `in ${files.password}`)],
    ["Key", key && `${key.name}, ${key.published ? "published" : "not published"}`],
    ["App id", key?.app_id],
    ["App secret", secrets.key ?? (files.key && `in ${files.key}`)],
    ["Mail", config.smtpUrl && `${mailHost(config)}, from ${config.mailFrom}`],
    ["Data", config.dataDir],
    ["Replica", config.replicateTo],
    ["Settings", settings.written.length > 0 && settings.path],
    ["Address", `${url}${othersOf(config)}`],
  ];
  return rows.flatMap(([label, value]): [string, string][] => (value ? [[label, escapeControls(value)]] : []));
}

function listSteps(outcome: Outcome, url: string): string[][] {
  const { setup, serve, config, runningUrl, settings } = outcome;
  const isStopped = !serve && runningUrl === undefined;
  const { key } = setup;
  const program = programName();
  const isDefault = relative(process.cwd(), config.dataDir) === defaultDataDir;
  const bodega = (words: string) => `${program} ${words}${isDefault ? "" : ` --data-dir ${quoteWord(config.dataDir)}`}`;
  const price = currencyDigits(setup.store.currency) === 0 ? 1250 : 12.5;
  const product = `--title "Enamel mug" --price ${price} --stock 40`;
  const add = (flags: string) => bodega(`init -n ${setup.store.namespace}${setup.owner ? "" : " --no-owner"} ${flags}`);
  const restart = settings.written.length > 0 ? ". Restart it to apply the new settings" : "";
  const steps: (string[] | false)[] = [
    runningUrl !== undefined && [`The server is already running${restart}`],
    isStopped && ["Start the server", bodega("serve")],
    isStopped && ["Print a systemd unit that starts the server at every boot", bodega("init --print-unit")],
    key !== null && !key.published && ["Publish the key", bodega(`key publish ${key.app_id}`)],
    setup.made.store && ["Create the first product", bodega(`product create -n ${setup.store.namespace} ${product}`)],
    setup.made.key && [`API reference: ${url}/docs`],
    config.smtpUrl === undefined
      ? [
          "Mail stays in the queue until there is a mail server. Add one",
          add("--smtp-url-file <file> --mail-from <address>"),
        ]
      : ["Send a test mail", bodega(`mail test -n ${setup.store.namespace} --to ${setup.owner?.email ?? "<address>"}`)],
    config.replicateTo === undefined &&
      config.databaseUrl === undefined && [
        "There is no replica. To copy each change to another disk or to S3",
        add("--replicate-to <dir|s3://bucket/prefix>"),
      ],
    ["Check the installation", bodega("doctor"), `${program} --help`],
  ];
  return steps.filter((step) => step !== false);
}

/** Prints a systemd unit that starts a server with these flags. Errors: wrongState for unusual paths. */
export async function printUnit(args: InitArgs, console: Console): Promise<void> {
  checkFlags(args);
  const config = readCliConfig(args, console);
  const { dataDir, port, acme, replicateTo = "", backupTo = "" } = config;
  const mailFile = args["smtp-url-file"];
  const account = chooseAccount(dataDir);
  const text = renderUnit({
    command: ownCommand,
    dataDir,
    folders: [replicateTo, backupTo].filter((path) => path.startsWith("/") && !`${path}/`.startsWith(`${dataDir}/`)),
    // Every user can read a unit, so it must not contain the URL of the mail server, which has a password.
    settings: { ...readSettings(args), ...(mailFile && { BODEGA_SMTP_URL_FILE: resolve(mailFile) }) },
    hasReplica: config.replicateTo !== undefined,
    account,
    port: Math.min(port, acme?.httpPort ?? port),
  });
  if (account.kind === "static" && account.user === "0") {
    const remedy = "If the data directory is below /var/lib, systemd creates an account for the service.";
    await warn(console, `The unit runs as root because root owns ${dataDir}. ${remedy}`);
  }
  const temporary = [dataDir, ...ownCommand].find(isTemporary);
  if (temporary !== undefined) await warn(console, `${temporary} may be deleted at the next boot. Move it elsewhere.`);
  // The service will not have the environment variables of this command, so a warning names them.
  const isLost = (name: string) => /^BODEGA_(?!DATA_DIR|NAMESPACE|WORKER$)/.test(name) && console.env[name];
  const names = Object.keys(console.env).filter(isLost).join(", ");
  if (names !== "") await warn(console, `The service will not have the variables ${names}. Set them in bodega.env.`);
  await (console.json ? printJson(console, { text }) : console.write(text));
}

function chooseAccount(dataDir: string): Parameters<typeof renderUnit>[0]["account"] {
  if (process.getuid?.() === 0 && stateDirectoryOf(dataDir) !== undefined) return { kind: "dynamic" };
  // If the directory does not exist yet, the account of this process will create it.
  const { uid, gid } = existsSync(dataDir) ? statSync(dataDir) : { uid: process.getuid?.(), gid: process.getgid?.() };
  return { kind: "static", user: String(uid), group: String(gid) };
}
