import { existsSync } from "node:fs";
import { findShop, type Shop } from "../../../server/admin/create-shop.ts";
import type { Config } from "../../../server/config/config.ts";
import { databaseFile } from "../../../server/config/data-dir.ts";
import { compareSettings } from "../../../server/config/env-file-write.ts";
import { listTenants } from "../../../server/modules/tenants/service.ts";
import { withContext } from "../../context/context.ts";
import type { Console } from "../../terminal/console.ts";
import { info } from "../../terminal/output.ts";
import type { Answers } from "./answers.ts";
import { checkPassword, requireFlags } from "./check-flags.ts";
import type { InitArgs } from "./flags.ts";
import { askSecretFile, takeKey } from "./key-answers.ts";
import { smtpVariable, takeMail } from "./mail-answers.ts";
import { takeOwner } from "./owner-answers.ts";
import { takeRun } from "./run-answers.ts";
import { askNamespace, findNamespace, takeStore } from "./store-answers.ts";

const nothing: Shop = { store: null, owner: null, key: null };

/**
 * All answers, from the flags and, at a terminal, by asking for what they leave open and what does not stand yet. Writes nothing.
 * @throws UsageError that names everything that is missing where nobody can be asked; CancelledError.
 */
export async function gatherAnswers(args: InitArgs, console: Console, config: Config): Promise<Answers> {
  const hasDatabase = isThere(config);
  const look = <T>(work: Parameters<typeof withContext<T>>[2]) => withContext(flagsOf(args, config), console, work);
  const standing = hasDatabase ? (await look((ctx) => listTenants(ctx))).map(({ namespace }) => namespace) : [];
  const stands = (namespace: string | undefined) =>
    namespace !== undefined && standing.includes(namespace)
      ? look((ctx) => findShop(ctx, namespace))
      : Promise.resolve(nothing);
  if (!console.canAsk) {
    const found = findNamespace(args, standing);
    requireFlags(args, console, found, await stands(found));
  }
  if (console.canAsk) await greet(console, config, hasDatabase);
  const named = console.canAsk
    ? await askNamespace(args, standing)
    : { namespace: findNamespace(args, standing) as string, title: args.title };
  const shop = await stands(named.namespace);
  if (console.canAsk) await tellStanding(console, shop);
  const store = shop.store === null ? await takeStore(args, console, named) : null;
  const owner = shop.owner === null && args.owner ? await takeOwner(args, console) : null;
  // Before a mail server hears of it.
  if (owner !== null) checkPassword(owner.password);
  const key = shop.key === null ? await takeKey(args, console) : null;
  const secretFile =
    args["secret-file"] ?? (key && console.canAsk ? await askSecretFile(named.namespace, key.name) : undefined);
  const { title, language } = store ?? (shop.store as NonNullable<typeof shop.store>);
  const to = owner?.email ?? shop.owner?.email;
  const isKept = compareSettings(config.dataDir, { [smtpVariable]: "" }).kept.length > 0;
  const wantsMail = args.mail && !isKept && (config.smtpUrl === undefined || args["smtp-url-file"] !== undefined);
  const mail = wantsMail ? await takeMail(args, console, { title, language, to }) : null;
  return { namespace: named.namespace, store, owner, key, secretFile, mail, run: await takeRun(args, console) };
}

/** The same database for every look at it, and for what is written. */
export function flagsOf(args: InitArgs, config: Config): InitArgs {
  return { ...args, "data-dir": config.dataDir };
}

function isThere({ databaseUrl, dataDir }: Config): boolean {
  return databaseUrl !== undefined || existsSync(databaseFile(dataDir));
}

async function greet(console: Console, config: Config, hasDatabase: boolean): Promise<void> {
  await info(
    console,
    `${hasDatabase ? "There is a database already: what is missing is added, and nothing that stands is changed" : "A few questions, and the shop is open"} (${config.dataDir}).`,
  );
  await info(console, "Nothing is written before the last answer; ctrl-C leaves.");
  await info(console, "");
}

async function tellStanding(console: Console, { store, owner, key }: Shop): Promise<void> {
  if (store !== null)
    await info(console, `Store   ${store.namespace}: ${store.title}, ${store.currency}, ${store.language}`);
  if (owner !== null) await info(console, `Owner   ${owner.email}`);
  if (key !== null)
    await info(console, `Key     ${key.name} (${key.app_id}), ${key.published ? "published" : "not published"}`);
}
