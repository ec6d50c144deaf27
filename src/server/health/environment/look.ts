import type { Checkup, CheckupDeps, Finding } from "./finding.ts";

/** No check takes longer, whatever it waits for. */
const maxPatience = 3;

/** A finding, and which check made it. */
export interface Noted {
  check: string;
  finding: Finding;
}

/** Is told how many checks have ended, of how many, and which are under way. */
export type ProgressListener = (done: number, total: number, running: readonly string[]) => void;

/** Keeps count of checks for who watches. */
export function countChecks(total: number, onProgress?: ProgressListener) {
  const running = new Set<string>();
  let done = 0;
  const tell = () => onProgress?.(done, total, [...running]);
  return {
    begin(name: string): void {
      running.add(name);
      tell();
    },
    /** Without being counted. */
    leave(name: string): void {
      running.delete(name);
    },
    end(name: string): void {
      running.delete(name);
      done += 1;
      tell();
    },
  };
}

export type Progress = ReturnType<typeof countChecks>;

/** Runs checks side by side; what one of them throws hides no other. */
export async function lookAll(list: readonly Checkup[], about: CheckupDeps, progress: Progress): Promise<Noted[]> {
  const looks = await Promise.all(
    list.map(async (one) => {
      progress.begin(one.name);
      const found = await look(one, about);
      progress.end(one.name);
      return found.map((finding) => ({ check: one.name, finding }));
    }),
  );
  return looks.flat();
}

/** What a look that fails has thrown is a finding as well. */
async function look(checkup: Checkup, about: CheckupDeps): Promise<Finding[]> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("it took too long")), about.timeoutMs * maxPatience);
  try {
    return await Promise.race([checkup.find(about), late.promise]);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : "unknown";
    const message = `This could not be looked at: ${reason}`;
    return [{ severity: "error", subject: checkup.name, message, remedy: about.command("db check") }];
  } finally {
    clearTimeout(timer);
  }
}
