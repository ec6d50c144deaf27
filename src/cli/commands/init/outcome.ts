import type { ShopSetup } from "../../../server/admin/create-shop.ts";
import type { Config } from "../../../server/config/config.ts";
import type { WrittenSettings } from "../../../server/config/env-file-write.ts";
import { internalError } from "../../../server/errors.ts";
import { commandLine } from "../../terminal/command-line.ts";
import type { Console } from "../../terminal/console.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { info, printJson, warn } from "../../terminal/output.ts";
import { toUserRecord } from "../user/print.ts";
import type { MailAnswer, RunAnswer } from "./answers.ts";
import { compareLines } from "./compare-lines.ts";
import { formatGuide } from "./guide.ts";
import type { Unit } from "./service-files.ts";

/** What a conversation has led to. */
export interface Outcome {
  config: Config;
  setup: ShopSetup;
  /** Where one was made, and no file takes it. */
  password: string | undefined;
  files: { secret: string | undefined; password: string | undefined };
  mail: MailAnswer | null;
  settings: WrittenSettings;
  run: RunAnswer;
  unit: (Unit & { written: boolean; started: boolean }) | null;
  compose: { text: string; warning: string | undefined } | null;
  /** What was asked for and is otherwise already. */
  kept: string[];
  /** What went wrong once the shop stood; to be thrown when its secrets are told. */
  failure: unknown;
  /** Its secrets had to be shown before it stood, and all else with them. */
  isTold: boolean;
  /** Lets signals end the process again, and tells which one came meanwhile. */
  release(): NodeJS.Signals | undefined;
}

/**
 * Hands the outcome over, and says how to make other secrets where nobody has taken those that are in it.
 * @throws internalError then, and when it cannot be written.
 */
export async function tellOutcome(console: Console, outcome: Outcome, url: string): Promise<void> {
  if (outcome.isTold) return;
  const failure: unknown = await printOutcome(console, outcome, url).then(
    () => undefined,
    (error: unknown) => error,
  );
  const lost = console.hasReader() && failure === undefined ? [] : listLost(outcome);
  if (lost.length > 0) {
    const message = "The shop stands, but what is secret could not be shown on standard output, and is lost.";
    throw internalError(message, { remedy: `Make other ones: ${lost.join(" and ")}`, cause: failure });
  }
  if (failure !== undefined) throw failure;
}

/** Whether there is something secret in it that nothing else holds. */
export function holdsSecrets(outcome: Outcome): boolean {
  return readSecret(outcome) !== undefined || outcome.password !== undefined;
}

/** Commands that make the secrets anew which only the outcome holds. */
function listLost(outcome: Outcome): string[] {
  const { key, owner, store } = outcome.setup;
  const { password, config } = outcome;
  const command = commandLine({ "data-dir": config.dataDir, "database-url": config.databaseUrl });
  return [
    ...(key !== null && readSecret(outcome) !== undefined ? [command(`key rotate ${key.app_id} --yes`)] : []),
    ...(owner !== null && password !== undefined
      ? [command(`user set-password -n ${store.namespace} ${owner.id} --random-password`)]
      : []),
  ];
}

/** Hands the outcome over: one JSON value, `<app_id>:<app_secret>` and `<user_id>:<password>` with `-q`, else a guide. Secrets are in it this once. */
export async function printOutcome(console: Console, outcome: Outcome, url: string): Promise<void> {
  const { unit, compose, kept } = outcome;
  const secret = readSecret(outcome);
  if (console.json) return printJson(console, toJson(outcome, url));
  if (console.quiet) return console.write(formatIds(outcome, secret));
  for (const sentence of kept) await info(console, `kept: ${sentence}`);
  if (unit !== null) await tellUnit(console, outcome);
  if (compose?.warning !== undefined) await warn(console, compose.warning);
  if (compose !== null) await console.write(compose.text);
  // A file that was asked for is the answer, to be redirected; all else stands beside it.
  const isBeside = outcome.run === "unit" || compose !== null;
  const guide = formatGuide(outcome, url, secret, isBeside ? console.screen?.columns : console.columns);
  await (isBeside ? console.writeError(guide) : console.write(guide));
  if (holdsSecrets(outcome)) {
    await warn(console, "What is secret is shown this once; it cannot be read again.");
  }
}

/** The key's id with its secret, and the owner's with a password that was made, since nothing else tells it. */
function formatIds({ setup, password }: Outcome, secret: string | undefined): string {
  const id = setup.key?.app_id ?? setup.store.namespace;
  const lines = [secret === undefined ? id : `${id}:${secret}`];
  if (password !== undefined) lines.push(`${setup.owner?.id}:${password}`);
  return lines.map((line) => `${escapeControls(line)}\n`).join("");
}

/** The key's secret, where it was made just now and no file takes it. */
function readSecret({ setup, files }: Outcome): string | undefined {
  if (files.secret !== undefined || setup.key === null || !("app_secret" in setup.key)) return undefined;
  return setup.key.app_secret;
}

async function tellUnit(console: Console, { unit, run, settings }: Outcome): Promise<void> {
  if (unit === null) return;
  if (unit.warning !== undefined) await warn(console, unit.warning);
  await warnOfEnvironment(console, settings.path);
  if (run === "unit") return console.write(unit.text);
  if (unit.written) return info(console, `Wrote ${unit.path}`);
  if (unit.standing === undefined) return info(console, `${unit.path} stands already.`);
  await info(console, `kept: ${unit.path} stays as it is. Lines of it that would be otherwise:`);
  for (const line of compareLines(unit.standing ?? "", unit.text)) await info(console, `  ${line}`);
  await info(
    console,
    `Change them there, or remove the file and give the same command again; then: systemctl daemon-reload`,
  );
}

/** A service starts without the environment of whoever made it. */
async function warnOfEnvironment(console: Console, path: string): Promise<void> {
  const names = Object.keys(console.env).filter(
    (name) => /^BODEGA_(?!DATA_DIR|NAMESPACE|WORKER$)/.test(name) && console.env[name],
  );
  if (names.length > 0)
    await warn(console, `The service will not see ${names.join(", ")} of this environment: put it into ${path}`);
}

function toJson(outcome: Outcome, url: string) {
  const { setup, config, files, mail, settings, unit, compose, kept, password } = outcome;
  const { store, owner, made } = setup;
  const secret = readSecret(outcome);
  const key = setup.key && Object.fromEntries(Object.entries(setup.key).filter(([name]) => name !== "app_secret"));
  const secrets = {
    ...(secret !== undefined && { app_secret: secret }),
    ...(files.secret !== undefined && { secret_file: files.secret }),
  };
  return {
    namespace: store.namespace,
    store,
    owner: owner && {
      ...toUserRecord(owner),
      ...(password !== undefined && { password }),
      ...(files.password !== undefined && { password_file: files.password }),
    },
    key: key && { ...key, ...secrets },
    mail: mail && { host: new URL(mail.smtpUrl).host, from: mail.mailFrom, tried: mail.trial !== null },
    url,
    data_dir: config.dataDir,
    settings_file: settings.path,
    settings: settings.written,
    unit: unit && { path: unit.path, text: unit.text, written: unit.written, started: unit.started },
    compose: compose?.text ?? null,
    made: Object.entries(made).flatMap(([name, isMade]) => (isMade ? [name] : [])),
    kept,
  };
}
