import { type ShopSetup, setUpShop } from "../../../server/admin/create-shop.ts";
import { addToEnvFile, envFilePath } from "../../../server/config/env-file.ts";
import { prepareUser } from "../../../server/modules/users/service.ts";
import { beginContext } from "../../context/context.ts";
import type { Console } from "../../terminal/console.ts";
import type { InitArgs } from "./flags.ts";
import { listKept } from "./kept.ts";
import { readMailFlags } from "./mail.ts";
import { type Outcome, secretsLost } from "./outcome.ts";
import { type Plan, readInitConfig } from "./plan.ts";
import { startService, writeUnit } from "./unit.ts";

/**
 * Creates the missing parts of the store in one transaction, then writes the secrets to their files.
 * @throws AppError of the services, when nothing was created; internalError when a secret could not be written to
 * its file, with the commands that replace it.
 */
export async function createShop(args: InitArgs, console: Console, plan: Plan): Promise<Outcome> {
  const { config, answers, files } = plan;
  const { namespace, store, owner, key } = answers;
  const account = owner && { email: owner.email, password: owner.password, ...(owner.name && { name: owner.name }) };
  const prepared = account && (await prepareUser({ actor: { kind: "terminal" } }, { ...account, role: "owner" }));
  const flags = { ...args, "data-dir": config.dataDir };
  const setup = await beginContext(flags, console, (ctx) => setUpShop(ctx, { namespace, store, owner: prepared, key }));
  const outcome = describeOutcome(plan, setup);
  try {
    if (outcome.secrets.key !== undefined && files.secret !== undefined) {
      await files.secret.save(outcome.secrets.key);
      outcome.secrets.key = undefined;
      outcome.files.secret = files.secret.path;
    }
    if (outcome.secrets.password !== undefined && files.password !== undefined) {
      await files.password.save(outcome.secrets.password);
      outcome.secrets.password = undefined;
      outcome.files.password = files.password.path;
    }
  } catch (error) {
    throw secretsLost(outcome, error instanceof Error ? error.message : "A secret could not be written.", error);
  }
  return outcome;
}

/** Writes bodega.env and the unit, and starts the service. Each step is noted in the outcome. */
export async function finishSetup(args: InitArgs, console: Console, plan: Plan, outcome: Outcome): Promise<void> {
  const { dataDir, port } = plan.config;
  outcome.settings = addToEnvFile(dataDir, wantedSettings(args, console, plan));
  outcome.config = { ...readInitConfig({ ...args, "data-dir": dataDir }, console, false), port };
  outcome.kept = listKept(args, outcome.setup, outcome.settings, console.command);
  const { unit, run } = outcome;
  if (unit === null || run !== "systemd") return;
  unit.written = writeUnit(unit);
  if (!plan.startsService) return;
  startService();
  unit.started = true;
}

function describeOutcome({ config, answers, unit }: Plan, setup: ShopSetup): Outcome {
  const { key, made } = setup;
  return {
    config,
    setup,
    secrets: {
      key: made.key && key !== null && "app_secret" in key ? key.app_secret : undefined,
      password: made.owner && answers.owner?.isRandom ? answers.owner.password : undefined,
    },
    files: { secret: undefined, password: undefined },
    mail: answers.mail,
    settings: { path: envFilePath(config.dataDir), written: [], kept: [] },
    run: answers.run,
    unit: unit && { ...unit, written: false, started: false },
    kept: [],
  };
}

/** Values for bodega.env, which the server and every later command read. */
function wantedSettings(args: InitArgs, console: Console, { answers }: Plan): Record<string, string> {
  // A server that is configured already is not tested again; a different one is reported as kept.
  const mail = answers.mail ?? (args.mail ? readMailFlags(args, console) : null);
  const wanted = {
    BODEGA_DATABASE_URL: args["database-url"],
    BODEGA_HOST: args.host,
    BODEGA_PORT: args.port === "0" ? undefined : args.port,
    BODEGA_PUBLIC_URL: args["public-url"],
    BODEGA_LOG: args.log,
    BODEGA_LOG_LEVEL: args["log-level"],
    BODEGA_SMTP_URL: mail?.smtpUrl,
    BODEGA_MAIL_FROM: mail?.mailFrom,
  };
  return Object.fromEntries(
    Object.entries(wanted).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
