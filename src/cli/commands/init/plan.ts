import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "../../../server/config/config.ts";
import { databaseFile } from "../../../server/config/data-dir.ts";
import { defaultDataDir } from "../../../server/config/options.ts";
import { readCliConfig } from "../../context/read-config.ts";
import { requireReader } from "../../secrets/deliver.ts";
import { planSecretFile, type SecretFile } from "../../secrets/secret-file.ts";
import type { Console } from "../../terminal/console.ts";
import { CancelledError, UsageError } from "../../terminal/usage-error.ts";
import { type Answers, gatherAnswers } from "./answers.ts";
import { checkFlags, type InitArgs } from "./flags.ts";
import { askYesNo } from "./questions.ts";
import { hasSystemd, readRunMode } from "./run-mode.ts";
import { confirmStart, describeUnit, requireWritable, type Unit } from "./unit.ts";

/** Everything that is decided before `init` writes anything. */
export interface Plan {
  config: Config;
  answers: Answers;
  /** Files for new secrets; undefined for those that are printed. */
  files: { secret: SecretFile | undefined; password: SecretFile | undefined };
  unit: Unit | null;
  startsService: boolean;
}

// A service of the machine has its data here unless another directory is named.
const systemDataDir = "/var/lib/bodega";

/**
 * Checks the flags, asks the questions and checks that everything can be written.
 * @throws UsageError, CancelledError, and AppError of the services. Nothing is written then.
 */
export async function planShop(args: InitArgs, console: Console): Promise<Plan> {
  checkFlags(args);
  const given = readRunMode(args);
  let config = readInitConfig(args, console, given === "systemd" || given === "unit");
  if (given === "systemd") requireWritable(describeUnit(config, args["unit-dir"], console));
  const answers = await gatherAnswers(args, console, config);
  const { run, key, owner, secretFile } = answers;
  if (run === "systemd" && given === undefined) config = readInitConfig(args, console, hasSystemd());
  // The guide is printed before the server listens, and names its port.
  if (run === "serve" && config.port === 0) config = { ...config, port: await findFreePort(config.host) };
  const unit = run === "systemd" || run === "unit" ? describeUnit(config, args["unit-dir"], console) : null;
  if (run === "systemd" && unit !== null) requireWritable(unit);
  const files = {
    secret: key === null ? undefined : planFile(secretFile, "--secret-file"),
    password: owner?.isRandom ? planFile(args["owner-password-file"], "--owner-password-file") : undefined,
  };
  if (files.secret !== undefined && files.secret.path === files.password?.path) {
    throw new UsageError("--secret-file and --owner-password-file name the same file.");
  }
  if (key !== null && files.secret === undefined) requireReader(console, "--secret-file");
  if (owner?.isRandom && files.password === undefined) requireReader(console, "--owner-password-file");
  if (console.canAsk && !console.assumeYes) {
    const question = answers.store === null ? `Update store ${answers.namespace}?` : "Create the store?";
    if (!(await askYesNo(question, true))) throw new CancelledError();
  }
  const startsService = run === "systemd" && unit !== null && (await confirmStart(unit, console));
  return { config, answers, files, unit, startsService };
}

/** The configuration that the flags ask for. A service of root has its data below /var/lib. */
export function readInitConfig(args: InitArgs, console: Console, isService: boolean): Config {
  const isNamed = args["data-dir"] !== undefined || console.env.BODEGA_DATA_DIR || console.env.BODEGA_DATA_DIR_FILE;
  const isChosen = isNamed || existsSync(databaseFile(resolve(defaultDataDir)));
  const dataDir = isService && process.getuid?.() === 0 && !isChosen ? systemDataDir : args["data-dir"];
  return readCliConfig({ ...args, "data-dir": dataDir }, console);
}

function planFile(path: string | undefined, flag: string): SecretFile | undefined {
  return path === undefined ? undefined : planSecretFile(path, flag);
}

async function findFreePort(hostname: string): Promise<number> {
  const probe = Bun.serve({ port: 0, hostname, fetch: () => new Response(null) });
  const { port = 0 } = probe;
  await probe.stop(true);
  return port;
}
