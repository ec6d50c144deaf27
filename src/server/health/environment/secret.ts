import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { get, statement } from "../../db/statement.ts";
import { AppError } from "../../errors.ts";
import { secretFingerprint } from "../../security/table.ts";
import type { Checkup, CheckupDeps, Finding } from "./finding.ts";

const selectFingerprint = statement<{ value: string }>(sql`select value from ${secretFingerprint} where id = 1`);
/** Fewer different characters than this are not random: 32 random ones of base64 have far more. */
const leastVariety = 12;

/** The server's key is there, is the one of this database, looks random, and lies where nobody publishes it. */
export const secret: Checkup = {
  name: "secret",
  async find(about) {
    return [...(await findMisfit(about)), ...findWeakness(about), ...findUnused(about), ...findRepository(about)];
  },
};

function keyFile({ config: { dataDir } }: CheckupDeps): string {
  return join(dataDir, "secret.key");
}

async function findMisfit(about: CheckupDeps): Promise<Finding[]> {
  const { ctx, config, command } = about;
  // A database that no key has been used with yet takes the first one; asking for it would make the file.
  if (ctx === null || (await get(ctx.db, selectFingerprint)) === undefined) return [];
  const subject = config.secret === undefined ? keyFile(about) : "BODEGA_SECRET";
  try {
    ctx.vault.fingerprint();
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const isMissing = config.secret === undefined && !existsSync(keyFile(about));
    const remedy = `Put the right key back; if it is lost for good, stop the server and run: ${command("db rekey")}`;
    const message = isMissing
      ? `${subject} is missing, and this database was made with a key.`
      : error.kind === "wrongState"
        ? `${subject} holds another key than the one that this database was made with.`
        : error.message;
    const lost = " Second factors, waiting mail, webhooks and notifications cannot be read without it.";
    return [{ severity: "error", subject, message: message + lost, remedy }];
  }
}

function findWeakness(about: CheckupDeps): Finding[] {
  const text = about.config.secret ?? readKey(about);
  if (text === undefined || new Set(text).size >= leastVariety) return [];
  const subject = about.config.secret === undefined ? keyFile(about) : "BODEGA_SECRET";
  return [
    {
      severity: "warning",
      subject,
      message: `${subject} does not look random: it has ${new Set(text).size} different characters only, and may be guessed.`,
      remedy: `Stop the server, set one from "openssl rand -base64 32", and run: ${about.command("db rekey")}`,
    },
  ];
}

function findUnused(about: CheckupDeps): Finding[] {
  const kept = about.config.secret === undefined ? undefined : readKey(about);
  if (kept === undefined || kept === about.config.secret) return [];
  return [
    {
      severity: "note",
      subject: keyFile(about),
      message: `${keyFile(about)} is another key than BODEGA_SECRET, which is the one in use.`,
      remedy: "Keep it apart until nothing needs it any more, such as an old backup.",
    },
  ];
}

/** A working tree of git from which the key would be published with the next `git add .`. */
function findRepository(about: CheckupDeps): Finding[] {
  const path = keyFile(about);
  const git = existsSync(path) ? Bun.which("git") : null;
  if (git === null) return [];
  const { dataDir } = about.config;
  // 1: in a working tree and not ignored. 0: ignored. 128: no working tree.
  const { exitCode } = Bun.spawnSync([git, "check-ignore", "-q", "--no-index", "secret.key"], {
    cwd: dataDir,
    stdio: ["ignore", "ignore", "ignore"],
  });
  if (exitCode !== 1) return [];
  return [
    {
      severity: "warning",
      subject: path,
      message: `${dataDir} lies in a working tree of git, which would take ${path} and the database with it.`,
      remedy: `echo '*' > '${dataDir.replaceAll("'", "'\\''")}/.gitignore'`,
      async mend() {
        await Bun.write(join(dataDir, ".gitignore"), "*\n");
      },
    },
  ];
}

function readKey(about: CheckupDeps): string | undefined {
  try {
    return readFileSync(keyFile(about), "utf8").trim();
  } catch {
    return undefined;
  }
}
