import { type Config, readConfig } from "../../server/config/config.ts";
import type { ConfigFlags } from "../../server/config/options.ts";
import type { SharedValues } from "../framework/args.ts";
import type { Console } from "../terminal/console.ts";
import { UsageError } from "../terminal/usage-error.ts";

/**
 * The configuration from a command's flags and the environment.
 * @param more flags that only this command takes.
 * @throws UsageError for a secret in `--database-url`, AppError validationFailed for a value at fault.
 */
export function readCliConfig(
  flags: Pick<SharedValues, "data-dir" | "database-url">,
  console: Console,
  more: Omit<ConfigFlags, "dataDir" | "databaseUrl"> = {},
): Config {
  const databaseUrl = flags["database-url"];
  if (databaseUrl !== undefined) {
    refuseSecret(
      "--database-url",
      databaseUrl,
      "Put the token into BODEGA_DATABASE_AUTH_TOKEN, or into a file that BODEGA_DATABASE_AUTH_TOKEN_FILE names.",
    );
  }
  return readConfig({ ...more, dataDir: flags["data-dir"], databaseUrl }, console.env);
}

/**
 * Refuses an address with a password or token in it as a flag's value, without repeating it.
 * @throws UsageError
 */
export function refuseSecret(flag: string, url: string, hint: string): void {
  if (!holdsSecret(url)) return;
  const message = "must not hold a secret, because every user of the machine can read arguments";
  throw new UsageError(`${flag} ${message}.`, { hint, details: [{ field: flag, message }] });
}

function holdsSecret(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { password, searchParams } = new URL(url);
  return password !== "" || [...searchParams.keys()].some((name) => /token|password|secret/i.test(name));
}
