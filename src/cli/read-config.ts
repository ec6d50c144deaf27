import { type Config, type ConfigFlags, readConfig } from "../server/config.ts";
import type { SharedValues } from "./args.ts";
import type { Io } from "./io.ts";
import { UsageError } from "./usage-error.ts";

/**
 * The configuration from a verb's flags and the environment.
 * @param more flags that only this verb takes.
 * @throws UsageError for a secret in `--database-url`, AppError 5102 for a value at fault.
 */
export function readCliConfig(
  flags: Pick<SharedValues, "data-dir" | "database-url">,
  io: Io,
  more: Omit<ConfigFlags, "dataDir" | "databaseUrl"> = {},
): Config {
  const databaseUrl = flags["database-url"];
  if (databaseUrl !== undefined && holdsSecret(databaseUrl)) {
    const message = "must not hold a secret, because every user of the machine can read arguments";
    throw new UsageError(`--database-url ${message}.`, {
      hint: "Put the token into BODEGA_DATABASE_AUTH_TOKEN, or a file named by BODEGA_DATABASE_AUTH_TOKEN_FILE.",
      details: [{ field: "--database-url", message }],
    });
  }
  return readConfig({ ...more, dataDir: flags["data-dir"], databaseUrl }, io.env);
}

function holdsSecret(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { password, searchParams } = new URL(url);
  return password !== "" || [...searchParams.keys()].some((name) => /token|password|secret/i.test(name));
}
