import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type ShopSetup, setUpShop } from "../../../server/admin/create-shop.ts";
import { type Config, defaultDataDir } from "../../../server/config/config.ts";
import { databaseFile } from "../../../server/config/data-dir.ts";
import { settingsPath } from "../../../server/config/env-file.ts";
import { addSettings, compareSettings } from "../../../server/config/env-file-write.ts";
import { prepareUser } from "../../../server/modules/users/service.ts";
import { beginContext } from "../../context/context.ts";
import { readCliConfig } from "../../context/read-config.ts";
import { CancelledError, UsageError } from "../../framework/usage-error.ts";
import { disownShown, requireReader, showInTime, undoOnFailure } from "../../secrets/deliver.ts";
import { planSecretFile, type SecretFile } from "../../secrets/secret-file.ts";
import type { Console } from "../../terminal/console.ts";
import { info } from "../../terminal/output.ts";
import { formatServerUrl } from "../health/probe-health.ts";
import { readServerFlags } from "../serve/server-process.ts";
import type { Answers } from "./answers.ts";
import { checkFlags } from "./check-flags.ts";
import { tellDifferences } from "./differences.ts";
import type { InitArgs } from "./flags.ts";
import { flagsOf, gatherAnswers } from "./gather.ts";
import { readGiven, smtpVariable } from "./mail-answers.ts";
import { holdsSecrets, type Outcome, printOutcome } from "./outcome.ts";
import { askYesNo } from "./questions.ts";
import { canInstall, givenRun, systemDataDir } from "./run-answers.ts";
import {
  agreeToStart,
  describeCompose,
  describeUnit,
  requireWritable,
  startService,
  type Unit,
  writeUnit,
} from "./service-files.ts";

/**
 * Sets a shop up: asks, then writes everything at once. What stands already is left as it is.
 * Signals are held from the first write on, until the outcome is told and `release` is called.
 * Where no terminal shows them, secrets are told before they are valid, with all that is about to be.
 * @throws UsageError, AppError of the services, CancelledError; then nothing of the shop was written.
 */
export async function initShop(args: InitArgs, console: Console): Promise<Outcome> {
  checkFlags(args);
  const isService = givenRun(args) === "systemd" || givenRun(args) === "unit";
  let config = readInitConfig(args, console, isService);
  // What is in the way of a unit is said before anybody has answered a question.
  if (givenRun(args) === "systemd") requireWritable(describeUnit(config, args["unit-dir"]));
  const answers = await gatherAnswers(args, console, config);
  if (answers.run === "systemd" && givenRun(args) === undefined) config = readInitConfig(args, console, canInstall());
  // What is told before the server listens names its address too.
  if (answers.run === "serve" && config.port === 0 && !console.stdoutIsTerminal) {
    config = { ...config, port: await findFreePort(config.host) };
  }
  const isAUnit = answers.run === "systemd" || answers.run === "unit";
  const unit = isAUnit ? describeUnit(config, args["unit-dir"]) : null;
  if (answers.run === "systemd" && unit !== null) requireWritable(unit);
  if (console.canAsk) await confirmAnswers(console, config, answers, unit);
  const starts = answers.run === "systemd" && unit?.standing === null && (await agreeToStart(unit, console));
  const wanted = wantedSettings(args, console, answers);
  // From here on it is a matter of moments, and is not left half-done.
  const release = console.holdSignals();
  const foresee = (setup: ShopSetup, files: Files): Outcome => {
    const { missing, kept } = compareSettings(config.dataDir, wanted);
    const settings = { path: settingsPath(config.dataDir), written: missing, kept };
    const written = answers.run === "systemd" && unit?.standing === null;
    return {
      config,
      setup,
      password: setup.made.owner && answers.owner?.isRandom && !files.password ? answers.owner.password : undefined,
      files,
      mail: answers.mail,
      settings,
      run: answers.run,
      unit: unit && { ...unit, written, started: starts },
      compose: answers.run === "compose" ? describeCompose(config) : null,
      kept: tellDifferences(args, setup, settings),
      failure: undefined,
      isTold: false,
      release,
    };
  };
  const outcome = await writeShop(args, console, config, answers, foresee).catch((error) => {
    release();
    throw error;
  });
  try {
    outcome.settings = addSettings(config.dataDir, wanted);
    outcome.config = { ...readInitConfig({ ...args, "data-dir": config.dataDir }, console, false), port: config.port };
    if (outcome.unit?.written) outcome.unit.written = writeUnit(outcome.unit);
    if (starts) startService();
  } catch (error) {
    // The shop stands, and its secrets are told nowhere else.
    outcome.failure = error;
  }
  return outcome;
}

/** A service of the machine has its data below /var/lib, unless a folder is named, or there is a shop in the usual one. */
function readInitConfig(args: InitArgs, console: Console, isForMachine: boolean): Config {
  const isNamed = args["data-dir"] !== undefined || console.env.BODEGA_DATA_DIR || console.env.BODEGA_DATA_DIR_FILE;
  const isRoot = process.getuid?.() === 0;
  const isUsual = isNamed || existsSync(databaseFile(resolve(defaultDataDir)));
  const dataDir = isForMachine && isRoot && !isUsual ? systemDataDir : args["data-dir"];
  const more = { ...readServerFlags(args), publicUrl: args["public-url"] };
  return readCliConfig({ ...args, "data-dir": dataDir }, console, more);
}

async function confirmAnswers(console: Console, config: Config, answers: Answers, unit: Unit | null): Promise<void> {
  const { namespace, store, owner, key, mail } = answers;
  const lines = [
    store && `Store     ${store.title} (${namespace}), ${store.currency}, ${store.language}`,
    owner && `Owner     ${owner.email}`,
    key &&
      `Key       ${key.name}, ${key.publish ? "published" : "not published"}; ${key.origins.length === 0 ? "programs only" : key.origins.join(" ")}`,
    mail && `Mail      ${new URL(mail.smtpUrl).host}, from ${mail.mailFrom}`,
    answers.run === "systemd" && unit?.standing === null && `Service   ${unit.path}`,
    `Folder    ${config.dataDir}`,
  ];
  await info(console, "");
  for (const line of lines) if (line) await info(console, `  ${line}`);
  if (unit?.warning !== undefined) await info(console, `  warning: ${unit.warning}`);
  if (!console.assumeYes && !(await askYesNo("Make it so?", true))) throw new CancelledError();
}

/** The files that secrets were written to. */
type Files = Outcome["files"];

/** Secrets are in their files, or shown, before they are valid; the rows stand together or not at all. */
async function writeShop(
  args: InitArgs,
  console: Console,
  config: Config,
  answers: Answers,
  foresee: (setup: ShopSetup, files: Files) => Outcome,
): Promise<Outcome> {
  const { namespace, store, owner, key, secretFile } = answers;
  const secret = key === null ? undefined : planFile(secretFile, "--secret-file");
  const password = owner?.isRandom ? planFile(args["owner-password-file"], "--owner-password-file") : undefined;
  if (secret !== undefined && secret.path === password?.path) {
    throw new UsageError("--secret-file and --owner-password-file name the same file.");
  }
  if (key !== null && secret === undefined) requireReader(console, "--secret-file");
  if (owner?.isRandom && password === undefined) requireReader(console, "--owner-password-file");
  const prepared =
    owner && (await prepareUser({ actor: { kind: "terminal" } }, { ...ownerFields(owner), role: "owner" }));
  const flags = flagsOf(args, config);
  const planned = [secret, password].filter((file) => file !== undefined);
  const outcomeOf = (setup: ShopSetup) => {
    const { made } = setup;
    return foresee(setup, {
      secret: made.key ? secret?.path : undefined,
      password: made.owner ? password?.path : undefined,
    });
  };
  let told: Outcome | undefined;
  const setup = await undoOnFailure(flags, console, planned, (give) =>
    beginContext(flags, console, (ctx) =>
      setUpShop(ctx, { namespace, store, owner: prepared, key }, (shop) =>
        give(async () => {
          // Who came second of two has made nothing.
          const { key: keyMade, made } = shop;
          if (made.key && keyMade !== null && "app_secret" in keyMade) await secret?.save(keyMade.app_secret);
          if (made.owner && owner !== null) await password?.save(owner.password);
          const outcome = outcomeOf(shop);
          if (console.stdoutIsTerminal || !holdsSecrets(outcome)) return;
          await showInTime(console, () => printOutcome(console, outcome, formatServerUrl(config)));
          told = { ...outcome, isTold: true };
        }),
      ),
    ),
  ).catch((error) => {
    throw told === undefined ? error : disownShown(flags, console, error);
  });
  return told ?? outcomeOf(setup);
}

async function findFreePort(hostname: string): Promise<number> {
  const probe = Bun.serve({ port: 0, hostname, fetch: () => new Response(null) });
  const found = probe.port ?? 0;
  await probe.stop(true);
  return found;
}

function planFile(path: string | undefined, flag: string): SecretFile | undefined {
  return path === undefined ? undefined : planSecretFile(path, flag);
}

function ownerFields({ email, name, password }: NonNullable<Answers["owner"]>) {
  return { email, password, ...(name !== null && { name }) };
}

/** What the server and every later command have to know, as far as it was said here. */
function wantedSettings(args: InitArgs, console: Console, answers: Answers): Record<string, string> {
  // One that stands is not tried again, but a difference is told.
  const mail = answers.mail ?? (args.mail ? readGiven(args, console) : null);
  const given: Record<string, string | undefined> = {
    BODEGA_DATABASE_URL: args["database-url"],
    BODEGA_HOST: args.host,
    // A free one is another each time.
    BODEGA_PORT: args.port === "0" ? undefined : args.port,
    BODEGA_PUBLIC_URL: args["public-url"],
    BODEGA_LOG: args.log,
    BODEGA_LOG_LEVEL: args["log-level"],
    [smtpVariable]: mail?.smtpUrl,
    BODEGA_MAIL_FROM: mail?.mailFrom,
  };
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
