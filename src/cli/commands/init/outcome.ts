import type { ShopSetup } from "../../../server/admin/create-shop.ts";
import type { Config } from "../../../server/config/config.ts";
import type { EnvFileChange } from "../../../server/config/env-file.ts";
import { internalError } from "../../../server/errors.ts";
import { commandLine } from "../../terminal/command-line.ts";
import type { MailAnswer } from "./mail.ts";
import type { RunMode } from "./run-mode.ts";
import type { Unit } from "./unit.ts";

/** The result of `init`. */
export interface Outcome {
  config: Config;
  setup: ShopSetup;
  /** New secrets that are in no file, and are printed. */
  secrets: { key: string | undefined; password: string | undefined };
  /** Paths of the files that new secrets were written to. */
  files: { secret: string | undefined; password: string | undefined };
  mail: MailAnswer | null;
  settings: EnvFileChange;
  run: RunMode;
  unit: (Unit & { written: boolean; started: boolean }) | null;
  /** Sentences about flags whose values differ from existing ones, which stay. */
  kept: string[];
}

/** The error for a store whose new secrets reached nobody, with the commands that replace them. */
export function secretsLost({ setup, secrets, config }: Outcome, reason: string, cause: unknown) {
  const { key, owner, store } = setup;
  const command = commandLine({ "data-dir": config.dataDir, "database-url": config.databaseUrl });
  const commands = [
    ...(secrets.key === undefined || key === null ? [] : [`key rotate ${key.app_id} --yes`]),
    ...(secrets.password === undefined || owner === null
      ? []
      : [`user set-password -n ${store.namespace} ${owner.id} --random-password`]),
  ];
  const remedy = `Create new secrets: ${commands.map(command).join(" and ")}`;
  return internalError(`Store ${store.namespace} was created. ${reason}`, { remedy, cause });
}
