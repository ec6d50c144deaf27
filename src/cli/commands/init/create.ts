import { setUpShop } from "../../../server/admin/create-shop.ts";
import { addToEnvFile, type EnvFileChange, envFilePath } from "../../../server/config/env-file.ts";
import { internalError } from "../../../server/errors.ts";
import { prepareUser } from "../../../server/modules/users/service.ts";
import { beginContext } from "../../context/context.ts";
import { readCliConfig } from "../../context/read-config.ts";
import { commandLine, quoteWords } from "../../terminal/command-line.ts";
import type { Console } from "../../terminal/console.ts";
import { type InitArgs, passwordSource, readSettings } from "./flags.ts";
import type { Plan } from "./plan.ts";
import { startService, writeUnit } from "./unit.ts";

export type Outcome = Awaited<ReturnType<typeof createShop>>;

/** Creates what is missing in one transaction, then writes the secrets. If that fails, the error says how to replace them. */
export async function createShop(console: Console, plan: Plan) {
  const { args, config, answers, unit } = plan;
  const { namespace, store, owner, key } = answers;
  const account = owner && { email: owner.email, password: owner.password, ...(owner.name && { name: owner.name }) };
  const prepared = account && (await prepareUser({ actor: { kind: "terminal" } }, { ...account, role: "owner" }));
  const flags = { ...args, "data-dir": config.dataDir };
  const setup = await beginContext(flags, console, (ctx) => setUpShop(ctx, { namespace, store, owner: prepared, key }));
  const outcome = {
    config,
    setup,
    /** New secrets that are in no file, and are printed. */
    secrets: {
      key: setup.made.key && setup.key !== null && "app_secret" in setup.key ? setup.key.app_secret : undefined,
      password: setup.made.owner && owner?.isRandom ? owner.password : undefined,
    },
    files: {} as { key?: string; password?: string },
    isMailTested: answers.mail?.isTested ?? false,
    settings: { path: envFilePath(config.dataDir), written: [], kept: [] } as EnvFileChange,
    run: answers.run,
    /** The URL of a server of this data directory that runs already. */
    runningUrl: answers.runningUrl,
    unit: unit && { ...unit, written: false, started: false },
    kept: [] as string[],
  };
  try {
    for (const name of ["key", "password"] as const) {
      const file = plan.files[name];
      const secret = outcome.secrets[name];
      if (secret === undefined || file === undefined) continue;
      await file.save(secret);
      outcome.secrets[name] = undefined;
      outcome.files[name] = file.path;
    }
  } catch (error) {
    throw secretsLost(outcome, error instanceof Error ? error.message : "A secret could not be written.", error);
  }
  return outcome;
}

export function secretsLost({ setup, secrets, config }: Outcome, reason: string, cause: unknown) {
  const { key, owner, store } = setup;
  const command = commandLine({ "data-dir": config.dataDir, "database-url": config.databaseUrl });
  const commands = [
    secrets.key !== undefined && `key rotate ${key?.app_id} --yes`,
    secrets.password !== undefined && `user set-password -n ${store.namespace} ${owner?.id} --random-password`,
  ].filter((words) => words !== false);
  const remedy = `Create new secrets: ${commands.map(command).join(" and ")}`;
  return internalError(`Store ${store.namespace} was created. ${reason}`, { remedy, cause });
}

export async function finishSetup(console: Console, plan: Plan, outcome: Outcome): Promise<void> {
  const { args, answers, config } = plan;
  const { dataDir, port } = config;
  const smtp = answers.mail && { BODEGA_SMTP_URL: answers.mail.smtpUrl, BODEGA_MAIL_FROM: answers.mail.mailFrom };
  outcome.settings = addToEnvFile(dataDir, { ...readSettings(args), ...smtp });
  // Other flags apply to the server that starts now. Later ones read what is saved, and a replica has one place.
  const flags = answers.run === "serve" ? { ...args, "replicate-to": undefined, port: String(port) } : {};
  outcome.config = readCliConfig({ ...flags, "data-dir": dataDir, "database-url": args["database-url"] }, console);
  outcome.kept = listKept(args, outcome, console.command);
  const { unit } = outcome;
  if (unit === null) return;
  unit.written = writeUnit(unit);
  if (!plan.startsService) return;
  startService();
  unit.started = true;
}

function listKept(args: InitArgs, { setup, settings }: Outcome, command: (words: string) => string): string[] {
  const { store, owner, key, made } = setup;
  const { namespace } = store;
  const kept = settings.kept.map((name) => `${name} stays as it is in ${settings.path}; to change it, edit that file`);
  const compare = (subject: string, existing: string, wanted: string | undefined, ...change: string[]) => {
    if (wanted === undefined || wanted === existing) return;
    kept.push(`${subject} stays ${existing}; to change it: ${command(quoteWords(...change))}`);
  };
  if (!made.store) {
    const set = (subject: string, field: "title" | "currency" | "language", wanted: string | undefined) =>
      compare(subject, store[field], wanted, "tenant", "update", namespace, `--${field}`, wanted ?? "");
    set("The store's name", "title", args.title);
    set("The currency", "currency", args.currency?.toUpperCase());
    set("The language", "language", args.language);
  }
  if (!made.owner && owner !== null) {
    const email = args["owner-email"]?.toLowerCase();
    const create = ["user", "create", "-n", namespace, "--role", "owner", "--email", email ?? ""];
    compare("The owner", owner.email.toLowerCase(), email, ...create);
    const source = passwordSource(args);
    const way = source === "given" ? "--password-stdin" : "--random-password";
    const set = ["user", "set-password", "-n", namespace, owner.id, way];
    compare("The owner's password", "as it is", source && "new", ...set);
  }
  if (!made.key && key !== null) {
    const { app_id: id, name, origins } = key;
    const describe = (isPublished: boolean) => (isPublished ? "published" : "unpublished");
    const publish = args.publish === undefined ? undefined : describe(args.publish);
    const wanted = args.origin.toSorted();
    compare("The key's secret", "as it is", args["save-secret-to"] && "new", "key", "rotate", id);
    compare("The key's name", name, args["key-name"], "key", "update", id, "--name", args["key-name"] ?? "");
    compare("The key", describe(key.published), publish, "key", args.publish ? "publish" : "unpublish", id);
    const list = wanted.join(" ") || undefined;
    compare("The key's origin list", origins.join(" ") || "empty", list, "origin", "set", id, ...wanted);
  }
  return kept;
}
