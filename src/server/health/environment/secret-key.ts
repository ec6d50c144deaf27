import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { get } from "../../db/statement.ts";
import { AppError } from "../../errors.ts";
import { selectFingerprint } from "../../security/secret-key.ts";
import { attempt } from "../../values/attempt.ts";
import { type CheckSubject, type EnvironmentCheck, type Finding, finding } from "../finding.ts";

const minVariety = 12;

export const secretKey = {
  id: "secret",
  async run(subject) {
    const { config, command } = subject;
    const path = join(config.dataDir, "secret.key");
    const source = config.secret === undefined ? path : "BODEGA_SECRET";
    const key = config.secret ?? attempt(() => readFileSync(path, "utf8"))?.trim();
    const found = await checkFit(subject, source, path);
    if (key !== undefined && new Set(key).size < minVariety) {
      const message = `${source} is not random: it has only ${new Set(key).size} different characters and can be guessed.`;
      const remedy = `Stop the server, create a key with "openssl rand -base64 32", and run: ${command("db rekey")}`;
      found.push(finding("warning", source, message, remedy));
    }
    return found;
  },
} satisfies EnvironmentCheck;

async function checkFit({ ctx, config, command }: CheckSubject, source: string, path: string): Promise<Finding[]> {
  // A new database accepts any key, and reading the key would create one.
  if (ctx === null || (await get(ctx.db, selectFingerprint)) === undefined) return [];
  try {
    ctx.vault.fingerprint();
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const isMissing = config.secret === undefined && !existsSync(path);
    const isOther = error.kind === "wrongState";
    const fault = isOther ? `${source} is not the secret key of this database.` : error.message;
    const reason = isMissing ? `${path} is missing.` : fault;
    const message = `${reason} Without the right key, two-factor sign-in, queued mail, webhooks and notifications do not work.`;
    const remedy = `Put the right key back. If it is lost, stop the server and run: ${command("db rekey")}`;
    return [finding("error", source, message, remedy)];
  }
}
