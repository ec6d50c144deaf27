import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { findShop, type Shop } from "../../../server/admin/create-shop.ts";
import type { Config } from "../../../server/config/config.ts";
import { databaseFile } from "../../../server/config/data-dir.ts";
import { compareEnvFile, defaultDataDir } from "../../../server/config/env-file.ts";
import { readBirth } from "../../../server/db/migrate.ts";
import { listTenants } from "../../../server/modules/tenants/service.ts";
import { readServerStatus } from "../../../server/monitoring/control-socket.ts";
import { requireApart, tryPlace } from "../../../server/replication/place.ts";
import { reservePort } from "../../../server/runtime/port.ts";
import { readCertificate } from "../../../server/tls/certificate.ts";
import { withContext } from "../../context/context.ts";
import { readCliConfig } from "../../context/read-config.ts";
import { planSecretFile, requireReader } from "../../secrets/deliver.ts";
import type { Console } from "../../terminal/console.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { info, warn } from "../../terminal/output.ts";
import { askChoice } from "../../terminal/prompt.ts";
import { renderFields } from "../../terminal/table.ts";
import { CancelledError } from "../../terminal/usage-error.ts";
import { checkFlags, type InitArgs, requireFlags } from "./flags.ts";
import { askNamespace, findNamespace, resolveStore, takeKey, takeMail, takeOwner, takePublicUrl } from "./questions.ts";
import { askRunMode, describeUnit, hasSystemd, readRunMode, runModes } from "./unit.ts";

export type Plan = Awaited<ReturnType<typeof planShop>>;

// A service of the machine has its data here unless another directory is named.
const systemDataDir = "/var/lib/bodega";

/** Checks the flags, asks the questions and checks that everything can be written. Writes nothing. */
export async function planShop(given: InitArgs, console: Console) {
  checkFlags(given);
  const preset = readInitConfig(given, console, readRunMode(given) === "systemd");
  if (given["tls-cert"] !== undefined && preset.tls !== undefined) await readCertificate(preset.tls);
  const answers = await gatherAnswers(given, console, preset);
  const { run, key, owner, publicUrl, replica } = answers;
  const args = { ...given, "public-url": publicUrl };
  let config = readInitConfig({ ...args, "replicate-to": replica }, console, run === "systemd");
  // The guide is printed before the server listens, and names its port.
  if (run === "serve" && config.port === 0) config = { ...config, port: await reservePort(config) };
  const unit = run === "systemd" ? describeUnit(config, args["unit-dir"]) : null;
  const planFile = (path: string | undefined, flag: string) => {
    if (path !== undefined) return planSecretFile(path, flag);
    requireReader(console, flag);
  };
  /** Files for new secrets; undefined for those that are printed. */
  const files = {
    key: key === null ? undefined : planFile(key.secretFile, "--save-secret-to"),
    password: owner?.isRandom ? planFile(args["save-password-to"], "--save-password-to") : undefined,
  };
  if (replica !== undefined) await tryPlace(replica, config);
  const isInstalled = args["unit-dir"] === undefined && hasSystemd();
  const startsService = unit?.existing === undefined && isInstalled && (console.canAsk || console.assumeYes);
  return { args, config, answers, files, unit, startsService };
}

/** The address of the replica to add; undefined when bodega.env has one. Creates nothing. Errors: as `checkStart`. */
async function takeReplica({ "replicate-to": given }: InitArgs, config: Config, birth: string) {
  if (given === undefined) return undefined;
  if (compareEnvFile(config.dataDir, { BODEGA_REPLICATE_TO: given }).missing.length === 0) return undefined;
  const { checkStart } = await import("../../../server/replication/check-place.ts");
  const place = requireApart(given, config.dataDir);
  await checkStart(birth, config, place);
  return place;
}

/** The answers of flags and questions. A part is null when it exists already or is not wanted. Writes nothing. */
async function gatherAnswers(args: InitArgs, console: Console, config: Config) {
  const flags = { ...args, "data-dir": config.dataDir };
  const isNew = config.databaseUrl === undefined && !existsSync(databaseFile(config.dataDir));
  const tenants = isNew ? [] : await withContext(flags, console, (ctx) => listTenants(ctx));
  const existing = tenants.map(({ namespace }) => namespace);
  const birth = isNew ? "" : await withContext(flags, console, ({ db }) => readBirth(db));
  const replica = await takeReplica(args, config, birth);
  const readShop = (namespace: string | undefined): Shop | Promise<Shop> =>
    namespace !== undefined && existing.includes(namespace)
      ? withContext(flags, console, (ctx) => findShop(ctx, namespace))
      : { store: null, owner: null, key: null };
  // Its flags can differ from the settings.
  const runningUrl = config.databaseUrl === undefined ? (await readServerStatus(config.dataDir))?.url : undefined;
  const willServe = console.canAsk && args.serve !== false && runningUrl === undefined;
  if (willServe) await reservePort(config).catch(({ message }: Error) => warn(console, message));
  if (console.canAsk) {
    const existing = `Database found in ${config.dataDir}. Missing parts are added; nothing that exists is changed.`;
    await info(console, isNew ? `This creates a store in ${config.dataDir}.` : existing);
    await info(console, "Nothing is written before the last answer. Press ctrl-C to cancel.");
    await info(console, "");
  }
  const found = findNamespace(args, existing);
  if (!console.canAsk) requireFlags(args, console, found, await readShop(found));
  let named = console.canAsk ? await askNamespace(args, existing) : { namespace: found as string, title: args.title };
  const shop = await readShop(named.namespace);
  let store = shop.store === null ? await resolveStore(args, console, named) : null;
  let owner = shop.owner === null && args.owner ? await takeOwner(args, console) : null;
  const { title, language } = store ?? (shop.store as NonNullable<Shop["store"]>);
  const to = owner?.email ?? shop.owner?.email;
  const mail = await takeMail(args, console, { dataDir: config.dataDir, title, language, to });
  let key = shop.key === null ? await takeKey(args, console, named.namespace) : null;
  const takeServer = async (before?: string) => ({
    publicUrl: await takePublicUrl(args, console, config, before),
    run: readRunMode(args) ?? (console.canAsk && runningUrl === undefined ? await askRunMode() : "none"),
  });
  let server = await takeServer();
  for (;;) {
    const { namespace } = named;
    const answers = { namespace, store, owner, key, mail, ...server, runningUrl, replica };
    if (!console.canAsk || console.assumeYes) return answers;
    const again = await confirmAnswers(console, answers);
    if (again === "yes") return answers;
    if (again === "store") {
      named = await askNamespace(args, existing, named);
      store = await resolveStore(args, console, named, store ?? {});
    }
    if (again === "owner") owner = await takeOwner(args, console, owner ?? {});
    if (again === "key") key = await takeKey(args, console, named.namespace, key);
    if (again === "server") server = await takeServer(server.publicUrl);
  }
}

async function confirmAnswers(
  console: Console,
  { namespace, store, owner, key, mail, publicUrl, run, replica }: Awaited<ReturnType<typeof gatherAnswers>>,
) {
  const smtp = mail && `mail through ${new URL(mail.smtpUrl).host}`;
  const facts = {
    store: store && [`${store.title} (${namespace})`, `prices in ${store.currency}`, `language ${store.language}`],
    owner: owner && [owner.name, owner.email, owner.isRandom && "generated password"],
    key: key && [key.name, key.publish ? "published" : "unpublished", ...key.origins, key.secretFile],
    server: [runModes[run], publicUrl, smtp, replica && `replica in ${replica}`],
  };
  type Part = keyof typeof facts;
  const parts = (Object.keys(facts) as Part[]).filter((part) => facts[part]);
  const label = (part: Part) => part.charAt(0).toUpperCase() + part.slice(1);
  const join = (part: Part) => escapeControls((facts[part] || []).filter(Boolean).join(", "));
  const fields = parts.map((part) => [label(part), join(part)] as const);
  await console.writeError(`\n${renderFields(fields, { width: console.screen?.columns, color: console.color })}`);
  const next = await askChoice<Part | "yes" | "no">(store ? "Create the store?" : `Update store ${namespace}?`, [
    { value: "yes", name: "yes" },
    ...parts.map((value) => ({ value, name: `no, change the ${value}` })),
    { value: "no", name: "no, cancel" },
  ]);
  if (next === "no") throw new CancelledError();
  return next;
}

/** The configuration that the flags ask for. A service of root has its data below /var/lib. */
export function readInitConfig(args: InitArgs, console: Console, isService: boolean): Config {
  const isNamed = args["data-dir"] !== undefined || console.env.BODEGA_DATA_DIR || console.env.BODEGA_DATA_DIR_FILE;
  const isChosen = isNamed || existsSync(databaseFile(resolve(defaultDataDir)));
  const dataDir = isService && process.getuid?.() === 0 && !isChosen ? systemDataDir : args["data-dir"];
  return readCliConfig({ ...args, "data-dir": dataDir }, console);
}
