import { AppError, internalError, unavailable } from "../../server/errors.ts";
import type { DatabaseFlags } from "../context/context.ts";
import { readCliConfig } from "../context/read-config.ts";
import { CancelledError, UsageError } from "../framework/usage-error.ts";
import type { Console } from "../terminal/console.ts";
import { planSecretFile, type SecretFile } from "./secret-file.ts";

// Every writer of the database waits meanwhile.
const maxShowingMs = 1000;

/** Has a secret told, and returns when whoever asked for it has it; to be called just before the commit. */
export type Give = (secret: string, show: () => Promise<void>) => Promise<void>;

/**
 * Hands a new secret over before it is valid: into a file, or by showing it on standard output. Only when it is there
 * may `work` commit, so that no secret is ever valid that nobody has.
 * @param place the file that a flag names, if any.
 * @param work has the secret made, gives it while that can still be undone, and commits.
 * @throws what `work` throws, when nothing was made and no file stays; AppError internalError when nobody took the secret, unavailable
 * when standard output did not take it in time.
 */
export async function handOver<T>(
  args: DatabaseFlags,
  console: Console,
  place: { path: string | undefined; flag: string },
  work: (give: Give) => Promise<T>,
): Promise<{ made: T; file: string | undefined }> {
  const file = place.path === undefined ? undefined : planSecretFile(place.path, place.flag);
  if (file === undefined) requireReader(console, place.flag);
  let isShown = false;
  let later: (() => Promise<void>) | undefined;
  const made = await undoOnFailure(args, console, file === undefined ? [] : [file], (act) =>
    work((secret, show) =>
      act(async () => {
        if (file !== undefined) return file.save(secret);
        // A terminal stopped with ctrl-S stops the process, which would hold up every writer: it is shown just after.
        if (console.stdoutIsTerminal) {
          const release = console.holdSignals();
          later = () => show().finally(release);
          return;
        }
        await showInTime(console, show);
        isShown = true;
      }),
    ),
  ).catch((error) => {
    throw isShown ? disownShown(args, console, error) : error;
  });
  await later?.();
  return { made, file: file?.path };
}

/**
 * Shows a secret on standard output, before it is valid and while it can still be undone.
 * @throws unavailable when it was not taken within a second, internalError when it could not be written or nobody reads.
 */
export async function showInTime(console: Console, show: () => Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(unavailable("Standard output did not take the secret in time; nothing was changed."));
  }, maxShowingMs);
  const shown = show().catch((error) => {
    throw addWords(error, "Nothing was done.");
  });
  await Promise.race([shown, late.promise]).finally(() => clearTimeout(timer));
  if (!console.hasReader()) throw internalError("Nobody reads standard output any more; nothing was done.");
}

/** What failed after a secret was shown, with word that the secret came to nothing, where that is known. */
export function disownShown(args: DatabaseFlags, console: Console, error: unknown): unknown {
  return isRemote(args, console) ? error : addWords(error, "The secret on standard output is not valid.");
}

/**
 * Runs work that gives secrets away just before it commits them. From then until it has committed no signal ends the
 * process; when it fails, the files go again. They stay only when nobody can say whether it has committed.
 * @throws what `work` throws; CancelledError instead where SIGINT came meanwhile and nothing was done.
 */
export async function undoOnFailure<T>(
  args: DatabaseFlags,
  console: Console,
  files: readonly SecretFile[],
  work: (act: (give: () => Promise<void>) => Promise<void>) => Promise<T>,
): Promise<T> {
  let release: ReturnType<Console["holdSignals"]> | undefined;
  let isGiven = false;
  try {
    return await work(async (give) => {
      release = console.holdSignals();
      await give();
      isGiven = true;
    });
  } catch (error) {
    // A commit that a server was sent may stand though its answer was lost.
    const isUnclear = isGiven && isRemote(args, console);
    if (!isUnclear) for (const file of files) await file.discard();
    if (isUnclear) throw addWords(error, "It is not known whether the change stands: look before you repeat it.");
    const signal = release?.();
    release = undefined;
    throw signal === "SIGINT" ? new CancelledError() : error;
  } finally {
    release?.();
  }
}

function isRemote(args: DatabaseFlags, console: Console): boolean {
  return readCliConfig(args, console).databaseUrl !== undefined;
}

/**
 * Refuses to make a secret for nobody.
 * @param flag takes it elsewhere.
 * @throws UsageError naming that flag.
 */
export function requireReader(console: Console, flag: string): void {
  if (!console.leadsNowhere()) return;
  throw new UsageError("Standard output is closed or /dev/null: nobody would see the secret.", {
    hint: `Have it written to a file with ${flag} <path>.`,
    details: [{ field: flag, message: "is required where standard output leads nowhere" }],
  });
}

function addWords(error: unknown, words: string): unknown {
  if (!(error instanceof AppError)) return error;
  const { kind, message, details, remedy } = error;
  return new AppError(kind, `${message} ${words}`, { ...(details && { details }), remedy, cause: error });
}
