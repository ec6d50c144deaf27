import { existsSync } from "node:fs";
import { findShop, type Shop, setUpShop } from "../../../server/admin/create-shop.ts";
import { type Config, readConfig } from "../../../server/config/config.ts";
import { databaseFile } from "../../../server/config/data-dir.ts";
import { addToEnvFile, readVariable } from "../../../server/config/environment.ts";
import { listTenants } from "../../../server/modules/tenants/service.ts";
import { prepareUser } from "../../../server/modules/users/service.ts";
import { readServerStatus } from "../../../server/monitoring/listeners.ts";
import { requireApart, tryTarget } from "../../../server/replication/target.ts";
import { reservePort } from "../../../server/runtime/port.ts";
import { readCertificate } from "../../../server/tls/certificate.ts";
import { beginContext, readCliConfig, withContext } from "../../context/context.ts";
import { planSecretFile, readSecretFile } from "../../secrets/secrets.ts";
import { type Console, info, invalidFlag } from "../../terminal/console.ts";
import { askYesNo } from "../../terminal/prompt.ts";
import { checkFlags, type InitArgs, readSettings, requireFlags } from "./flags.ts";
import { askNamespace, findNamespace, resolveKey, resolveOwner, resolveStore } from "./questions.ts";

export type Outcome = Awaited<ReturnType<typeof createShop>>;
type Setup = Awaited<ReturnType<typeof setUpShop>>;

/** Checks the flags, asks the questions, and checks that the files can be created. Writes nothing. */
export async function planShop(given: InitArgs, console: Console) {
  checkFlags(given);
  const preset = readCliConfig(given, console);
  if (given["tls-cert"] !== undefined && preset.tls !== undefined) await readCertificate(preset.tls);
  const mail = readMail(given, console);
  const place = given["replicate-to"] && requireApart(given["replicate-to"], preset.dataDir);
  const answers = await gatherAnswers(given, console, preset);
  const { serve, key, owner } = answers;
  let config = preset;
  // The port is chosen now, because the printed guide names it before the server listens.
  if (serve && config.port === 0) config = { ...config, port: await reservePort(config) };
  const keyPath = key ? given["save-secret-to"] : undefined;
  const passwordPath = owner?.isRandom ? given["save-password-to"] : undefined;
  const files = {
    key: keyPath === undefined ? undefined : planSecretFile(keyPath),
    password: passwordPath === undefined ? undefined : planSecretFile(passwordPath, "--save-password-to"),
  };
  if (place) await tryTarget(place, config);
  return { args: given, config, answers, files, mail };
}

function readMail(args: InitArgs, console: Console): Record<string, string> {
  const path = args["smtp-url-file"];
  if (path === undefined) return {};
  const from = args["mail-from"] ?? readVariable(console.env, "BODEGA_MAIL_FROM");
  if (from === undefined) throw invalidFlag("--mail-from", "is required with --smtp-url-file");
  // A quote would end the quoted value in bodega.env, so it is percent-encoded.
  const url = readSecretFile(path, "--smtp-url-file").trim().replaceAll("'", "%27");
  const mail = { BODEGA_SMTP_URL: url, BODEGA_MAIL_FROM: from };
  readConfig({ "data-dir": "/dev/null" }, mail);
  return mail;
}

/** Returns the answers from flags and questions. `store`, `owner` or `key` is null if it exists or is not wanted. */
async function gatherAnswers(args: InitArgs, console: Console, config: Config) {
  const flags = { ...args, "data-dir": config.dataDir };
  const isNew = config.databaseUrl === undefined && !existsSync(databaseFile(config.dataDir));
  const tenants = isNew ? [] : await withContext(flags, console, (ctx) => listTenants(ctx));
  const existing = tenants.map(({ namespace }) => namespace);
  const readShop = (namespace = ""): Shop | Promise<Shop> =>
    existing.includes(namespace)
      ? withContext(flags, console, (ctx) => findShop(ctx, namespace))
      : { store: null, owner: null, key: null };
  // Asks the running server for its URL, because its flags may differ from the settings.
  const runningUrl = config.databaseUrl === undefined ? (await readServerStatus(config.dataDir))?.url : undefined;
  if (console.canAsk) {
    const found = `Database found in ${config.dataDir}. Missing parts are added; nothing that exists is changed.`;
    await info(console, isNew ? `This creates a store in ${config.dataDir}.` : found);
    await info(console, "Nothing is written before the last answer. Press ctrl-C to cancel.");
    await info(console, "");
  }
  const found = findNamespace(args, existing);
  if (!console.canAsk) requireFlags(args, found, await readShop(found));
  const named = console.canAsk
    ? await askNamespace(args, console, existing)
    : { namespace: found as string, title: args.title };
  const { namespace } = named;
  const shop = await readShop(namespace);
  const store = shop.store === null ? await resolveStore(args, console, named) : null;
  const owner = shop.owner === null && !args["no-owner"] ? await resolveOwner(args, console) : null;
  const key = shop.key === null ? await resolveKey(args, console) : null;
  const asksServe = console.canAsk && runningUrl === undefined && !args.serve && !args["no-serve"];
  const serve = asksServe ? await askYesNo("Start the server in this terminal when done?", true) : args.serve;
  return { namespace, store, owner, key, serve, runningUrl };
}

/** Saves the settings, creates what is missing in one transaction, then writes the secrets to their files. */
export async function createShop(console: Console, plan: Awaited<ReturnType<typeof planShop>>) {
  const { args, answers, mail } = plan;
  const { dataDir, port } = plan.config;
  const { namespace, store, owner, key, serve, runningUrl } = answers;
  const settings = addToEnvFile(dataDir, { ...readSettings(args), ...mail });
  // The server that starts now gets the flags, except `--replicate-to`: servers read this value from bodega.env.
  const flags = serve ? { ...args, "replicate-to": undefined, port: String(port) } : {};
  const config = readCliConfig({ ...flags, "data-dir": dataDir, "database-url": args["database-url"] }, console);
  const account = owner && { email: owner.email, password: owner.password, ...(owner.name && { name: owner.name }) };
  const prepared = account && (await prepareUser({ actor: { kind: "terminal" } }, { ...account, role: "owner" }));
  const setup = await beginContext({ ...args, "data-dir": dataDir }, console, (ctx) =>
    setUpShop(ctx, { namespace, store, owner: prepared, key }),
  );
  const secrets = {
    key: setup.made.key ? setup.key?.app_secret : undefined,
    password: setup.made.owner && owner?.isRandom ? owner.password : undefined,
  };
  const files: { key?: string; password?: string } = {};
  const kept = [
    ...settings.kept.map((name) => `${name} stays as it is in ${settings.path}; to change it, edit that file`),
    ...listKept(setup, console.command),
  ];
  for (const name of ["key", "password"] as const) {
    const [secret, file] = [secrets[name], plan.files[name]];
    if (secret === undefined || file === undefined) continue;
    await file.save(secret);
    secrets[name] = undefined;
    files[name] = file.path;
  }
  return { config, setup, secrets, files, settings, serve, runningUrl, kept };
}

/** Returns a sentence for each part that existed before, because flags do not change it. */
function listKept({ store, owner, key, made }: Setup, command: Console["command"]): string[] {
  const { namespace } = store;
  const keep = (part: string, words: string) => `${part} exists and stays as it is; to change it: ${command(words)}`;
  return [
    ...(made.store ? [] : [keep(`Store ${namespace}`, `tenant update ${namespace} -h`)]),
    ...(made.owner || !owner ? [] : [keep(`Owner ${owner.email}`, "user update -h")]),
    ...(made.key || !key ? [] : [keep(`Key ${key.name}`, "key update -h")]),
  ];
}
