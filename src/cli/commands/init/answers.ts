import { existsSync } from "node:fs";
import { findShop, type Shop } from "../../../server/admin/create-shop.ts";
import type { Config } from "../../../server/config/config.ts";
import { databaseFile } from "../../../server/config/data-dir.ts";
import { compareEnvFile } from "../../../server/config/env-file.ts";
import { listTenants } from "../../../server/modules/tenants/service.ts";
import { withContext } from "../../context/context.ts";
import type { Console } from "../../terminal/console.ts";
import { info } from "../../terminal/output.ts";
import { type InitArgs, requireFlags } from "./flags.ts";
import { type KeyAnswer, takeKey, takeSecretFile } from "./key.ts";
import { type MailAnswer, takeMail } from "./mail.ts";
import { type OwnerAnswer, takeOwner } from "./owner.ts";
import { askRunMode, type RunMode, readRunMode } from "./run-mode.ts";
import { askNamespace, findNamespace, takeStore } from "./store.ts";

/** All answers of the conversation. A part is null when it exists already or is not wanted. */
export interface Answers {
  namespace: string;
  store: { title: string; currency: string; language: string } | null;
  owner: OwnerAnswer | null;
  key: KeyAnswer | null;
  /** File for the key's secret; undefined for the screen. */
  secretFile: string | undefined;
  mail: MailAnswer | null;
  run: RunMode;
}

const emptyShop: Shop = { store: null, owner: null, key: null };

/**
 * Takes all answers from the flags and, at a terminal, asks for those that are missing. Writes nothing.
 * @throws UsageError that names every missing flag where nobody can be asked; CancelledError.
 */
export async function gatherAnswers(args: InitArgs, console: Console, config: Config): Promise<Answers> {
  const flags = { ...args, "data-dir": config.dataDir };
  const isNew = config.databaseUrl === undefined && !existsSync(databaseFile(config.dataDir));
  const tenants = isNew ? [] : await withContext(flags, console, (ctx) => listTenants(ctx));
  const existing = tenants.map(({ namespace }) => namespace);
  const readShop = (namespace: string | undefined) =>
    namespace !== undefined && existing.includes(namespace)
      ? withContext(flags, console, (ctx) => findShop(ctx, namespace))
      : emptyShop;
  if (console.canAsk) await greet(console, config, isNew);
  else await requireAnswers();
  const named = console.canAsk
    ? await askNamespace(args, existing)
    : { namespace: findNamespace(args, existing) as string, title: args.title };
  const shop = await readShop(named.namespace);
  const store = shop.store === null ? await takeStore(args, console, named) : null;
  const owner = shop.owner === null && args.owner ? await takeOwner(args, console) : null;
  const key = shop.key === null ? await takeKey(args, console) : null;
  const secretFile =
    key === null ? undefined : await takeSecretFile(args, console, { namespace: named.namespace, keyName: key.name });
  const { title, language } = store ?? (shop.store as NonNullable<Shop["store"]>);
  const to = owner?.email ?? shop.owner?.email;
  const mail = wantsMail(args, config) ? await takeMail(args, console, { title, language, to }) : null;
  const run = readRunMode(args) ?? (await askRunMode(console));
  return { namespace: named.namespace, store, owner, key, secretFile, mail, run };

  async function requireAnswers(): Promise<void> {
    const namespace = findNamespace(args, existing);
    requireFlags(args, console, namespace, await readShop(namespace));
  }
}

async function greet(console: Console, config: Config, isNew: boolean): Promise<void> {
  await info(
    console,
    isNew
      ? `This creates a store in ${config.dataDir}.`
      : `Database found in ${config.dataDir}. Missing parts are added; nothing that exists is changed.`,
  );
  await info(console, "Nothing is written before the last answer. Press ctrl-C to cancel.");
  await info(console, "");
}

/** Whether to set up mail: not if bodega.env has a mail server, and if the environment has one, only with a flag. */
function wantsMail(args: InitArgs, config: Config): boolean {
  const isConfigured = compareEnvFile(config.dataDir, { BODEGA_SMTP_URL: "" }).kept.length > 0;
  return args.mail && !isConfigured && (config.smtpUrl === undefined || args["smtp-url-file"] !== undefined);
}
