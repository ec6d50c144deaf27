import { type Config, type DatabaseConfig, readConfig, readDatabaseConfig } from "../../server/config/config.ts";
import { type ConfigFlags, type Options, openOptions } from "../../server/config/env-file.ts";
import type { SharedValues } from "../framework/args.ts";
import type { Console } from "../terminal/console.ts";
import { invalidFlag } from "../terminal/usage-error.ts";

export type DatabaseFlags = Pick<SharedValues, "data-dir" | "database-url">;

export function readCliConfig(flags: DatabaseFlags, console: Console): Config {
  return readConfig(toConfigFlags(flags), console.env);
}

/** The sources of options, for commands that read only a part of the configuration. Errors: as `readCliConfig`. */
export function openCliOptions(flags: DatabaseFlags, console: Pick<Console, "env">): Options {
  return openOptions(toConfigFlags(flags), console.env);
}

export function readDatabaseFlags(flags: DatabaseFlags, console: Console): DatabaseConfig {
  return readDatabaseConfig(openCliOptions(flags, console));
}

function toConfigFlags(flags: DatabaseFlags): ConfigFlags {
  const databaseUrl = flags["database-url"];
  const hint = "Set the token in BODEGA_DATABASE_AUTH_TOKEN, or in a file that BODEGA_DATABASE_AUTH_TOKEN_FILE names.";
  refuseSecret("--database-url", databaseUrl ?? "", hint);
  return flags as ConfigFlags;
}

/** Refuses a flag's address with a password or token. The error does not repeat it. */
export function refuseSecret(flag: string, url: string, hint: string): void {
  if (!URL.canParse(url)) return;
  const { password, searchParams } = new URL(url);
  const names = [...searchParams.keys()];
  if (password === "" && !names.some((name) => /token|password|secret/i.test(name))) return;
  throw invalidFlag(flag, "must not contain a secret, because every user of the machine can read arguments", hint);
}
