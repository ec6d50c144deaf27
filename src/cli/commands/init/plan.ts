import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { findShop, type Shop } from "../../../server/admin/create-shop.ts";
import type { Config } from "../../../server/config/config.ts";
import { databaseFile } from "../../../server/config/data-dir.ts";
import { compareEnvFile, defaultDataDir } from "../../../server/config/env-file.ts";
import { isServerRunning } from "../../../server/db/local/file-lock.ts";
import { listTenants } from "../../../server/modules/tenants/service.ts";
import { readServerStatus } from "../../../server/monitoring/control-socket.ts";
import { reservePort } from "../../../server/runtime/port.ts";
import { readCertificate } from "../../../server/tls/certificate.ts";
import { withContext } from "../../context/context.ts";
import { readCliConfig } from "../../context/read-config.ts";
import { planSecretFile, requireReader } from "../../secrets/deliver.ts";
import type { Console } from "../../terminal/console.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { info } from "../../terminal/output.ts";
import { askChoice } from "../../terminal/prompt.ts";
import { renderFields } from "../../terminal/table.ts";
import { CancelledError, UsageError } from "../../terminal/usage-error.ts";
import { takeAddress, takeKey, takeOwner, takeReplica } from "./access.ts";
import { checkFlags, type InitArgs, requireFlags } from "./flags.ts";
import { takeMail } from "./mail.ts";
import { askNamespace, findNamespace, takeStore } from "./store.ts";
import { askRunMode, confirmStart, describeUnit, hasSystemd, readRunMode, requireWritable } from "./unit.ts";

/** Everything that is decided before `init` writes anything. */
export type Plan = Awaited<ReturnType<typeof planShop>>;

// A service of the machine has its data here unless another directory is named.
const systemDataDir = "/var/lib/bodega";

/** Checks the flags, asks the questions and checks that everything can be written. Writes nothing. */
export async function planShop(args: InitArgs, console: Console) {
  checkFlags(args);
  const given = readRunMode(args);
  let config = readInitConfig(args, console, given === "systemd");
  if (given === "systemd") requireWritable(describeUnit(config, args["unit-dir"]));
  if (args["tls-cert"] !== undefined && config.tls !== undefined) await readCertificate(config.tls);
  const answers = await gatherAnswers(args, console, config);
  const { run, key, owner } = answers;
  if (run === "systemd" && given === undefined) config = readInitConfig(args, console, hasSystemd());
  config = { ...config, replicateTo: answers.replicateTo ?? config.replicateTo };
  // The guide is printed before the server listens, and names its port.
  if (run === "serve" && config.port === 0) config = { ...config, port: await reservePort(config) };
  const unit = run === "systemd" ? describeUnit(config, args["unit-dir"]) : null;
  if (unit !== null) requireWritable(unit);
  const planFile = (isWanted: boolean, path: string | undefined, flag: string) => {
    if (isWanted && path === undefined) requireReader(console, flag);
    return isWanted && path !== undefined ? planSecretFile(path, flag) : undefined;
  };
  /** Files for new secrets; undefined for those that are printed. */
  const files = {
    key: planFile(key !== null, key?.secretFile, "--save-secret-to"),
    password: planFile(owner?.isRandom === true, args["save-password-to"], "--save-password-to"),
  };
  if (files.key !== undefined && files.key.path === files.password?.path) {
    throw new UsageError("--save-secret-to and --save-password-to must name different files.");
  }
  const startsService = unit !== null && (await confirmStart(unit, console));
  return { config, answers, files, unit, startsService };
}

/** What `gatherAnswers` returns. */
export type Answers = Awaited<ReturnType<typeof gatherAnswers>>;

/** The answers of flags and questions. A part is null when it exists already or is not wanted. Writes nothing. */
async function gatherAnswers(args: InitArgs, console: Console, config: Config) {
  const flags = { ...args, "data-dir": config.dataDir };
  const isNew = config.databaseUrl === undefined && !existsSync(databaseFile(config.dataDir));
  const tenants = isNew ? [] : await withContext(flags, console, (ctx) => listTenants(ctx));
  const existing = tenants.map(({ namespace }) => namespace);
  const readShop = (namespace: string | undefined): Shop | Promise<Shop> =>
    namespace !== undefined && existing.includes(namespace)
      ? withContext(flags, console, (ctx) => findShop(ctx, namespace))
      : { store: null, owner: null, key: null };
  if (console.canAsk) await greet(console, config, isNew);
  const found = findNamespace(args, existing);
  if (!console.canAsk) requireFlags(args, console, found, await readShop(found));
  let named = console.canAsk ? await askNamespace(args, existing) : { namespace: found as string, title: args.title };
  const shop = await readShop(named.namespace);
  let store = shop.store === null ? await takeStore(args, console, named) : null;
  let owner = shop.owner === null && args.owner ? await takeOwner(args, console) : null;
  let key = shop.key === null ? await takeKey(args, console, named.namespace) : null;
  const hasMail = wantsMail(args, config);
  const takeServer = () => {
    const { title, language } = store ?? (shop.store as NonNullable<Shop["store"]>);
    return takeMail(args, console, { title, language, to: owner?.email ?? shop.owner?.email });
  };
  let mail = hasMail ? await takeServer() : null;
  const isRunning = config.databaseUrl === undefined && (await isServerRunning(config.dataDir));
  // Its flags can differ from the settings.
  const runningUrl = isRunning ? (await readServerStatus(config.dataDir))?.url : undefined;
  const takeRun = async () => ({
    address: await takeAddress(args, console, config),
    replicateTo: await takeReplica(args, console, config),
    run: readRunMode(args) ?? (isRunning ? ("none" as const) : await askRunMode(console)),
  });
  let server = await takeRun();
  for (;;) {
    const { namespace } = named;
    const answers = { namespace, store, owner, key, mail, ...server, isRunning, runningUrl };
    const again = console.canAsk && !console.assumeYes ? await confirmAnswers(console, answers, hasMail) : undefined;
    if (again === undefined) return answers;
    if (again === "store") {
      named = await askNamespace(args, existing);
      store = await takeStore(args, console, named);
    }
    if (again === "owner") owner = await takeOwner(args, console);
    if (again === "key") key = await takeKey(args, console, named.namespace);
    if (again === "mail") mail = await takeServer();
    if (again === "server") server = await takeRun();
  }
}

const servers = { serve: "now, in this terminal", systemd: "as a systemd service", none: "not started" } as const;
type Part = "store" | "owner" | "key" | "mail" | "server";

/** Shows what will be created, and asks whether to. Returns the part to ask for again; undefined to go on. */
async function confirmAnswers(console: Console, answers: Answers, hasMail: boolean): Promise<Part | undefined> {
  const { namespace, store, owner, key, mail, address, replicateTo, run } = answers;
  const facts: Record<Part, (string | null | false | undefined)[] | null | false> = {
    store: store && [`${store.title} (${namespace})`, `prices in ${store.currency}`, `language ${store.language}`],
    owner: owner && [owner.name, owner.email, owner.isRandom && "generated password"],
    key: key && [key.name, key.publish ? "published" : "unpublished", ...key.origins, key.secretFile],
    mail: hasMail && (mail ? [new URL(mail.smtpUrl).host, `from ${mail.mailFrom}`] : ["none"]),
    server: [servers[run], address.BODEGA_PUBLIC_URL, replicateTo && `replica in ${replicateTo}`],
  };
  const parts = (Object.keys(facts) as Part[]).filter((part) => facts[part]);
  const label = (part: Part) => part.charAt(0).toUpperCase() + part.slice(1);
  const fields = parts.map(
    (part) => [label(part), escapeControls((facts[part] || []).filter(Boolean).join(", "))] as const,
  );
  await console.writeError(`\n${renderFields(fields, { width: console.screen?.columns, color: console.color })}`);
  const next = await askChoice<Part | "yes" | "no">(store ? "Create the store?" : `Update store ${namespace}?`, [
    { value: "yes", name: "yes" },
    ...parts.map((value) => ({ value, name: `no, change the ${value}` })),
    { value: "no", name: "no, cancel" },
  ]);
  if (next === "no") throw new CancelledError();
  return next === "yes" ? undefined : next;
}

async function greet(console: Console, config: Config, isNew: boolean): Promise<void> {
  const existing = `Database found in ${config.dataDir}. Missing parts are added; nothing that exists is changed.`;
  await info(console, isNew ? `This creates a store in ${config.dataDir}.` : existing);
  await info(console, "Nothing is written before the last answer. Press ctrl-C to cancel.");
  await info(console, "");
}

/** Whether to set up mail: not if bodega.env has a mail server, and if the environment has one, only with a flag. */
function wantsMail(args: InitArgs, config: Config): boolean {
  const isConfigured = compareEnvFile(config.dataDir, { BODEGA_SMTP_URL: "" }).kept.length > 0;
  return args.mail && !isConfigured && (config.smtpUrl === undefined || args["smtp-url-file"] !== undefined);
}

/** The configuration that the flags ask for. A service of root has its data below /var/lib. */
export function readInitConfig(args: InitArgs, console: Console, isService: boolean): Config {
  const isNamed = args["data-dir"] !== undefined || console.env.BODEGA_DATA_DIR || console.env.BODEGA_DATA_DIR_FILE;
  const isChosen = isNamed || existsSync(databaseFile(resolve(defaultDataDir)));
  const dataDir = isService && process.getuid?.() === 0 && !isChosen ? systemDataDir : args["data-dir"];
  return readCliConfig({ ...args, "data-dir": dataDir }, console);
}
