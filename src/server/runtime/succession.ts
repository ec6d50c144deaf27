import type { Environment } from "../config/environment.ts";
import { unavailable, wrongState } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";

/** If the successor does not listen within this time, the present server goes on. */
const listenMs = 15_000;

/** Whether this process was started as the successor of a running server. */
export const isSuccessor = (env: Environment) => env.SUCCEEDS_SERVER === "1";

/**
 * Prepares a restart that does not close the port. `startSuccessor`, which SIGUSR2 calls, starts the executable on disk
 * with the same arguments. When the new process listens, `startSuccessor` and `successor` resolve with its process id,
 * and this server must end.
 */
export function prepareSuccession(command: readonly string[], env: Environment, notice: LogWriter["notice"]) {
  const successor = Promise.withResolvers<number>();
  const ready = Promise.withResolvers<void>();
  let starting: PromiseWithResolvers<number> | undefined;

  async function startSuccessor(): Promise<number> {
    if (starting) return starting.promise;
    starting = Promise.withResolvers<number>();
    const { promise, reject } = starting;
    const onExit = () => reject(unavailable("The next server cannot start, so the present one goes on."));
    // When the shell ends, systemd becomes the successor's parent. systemd stops only its own children gracefully.
    const shell = Bun.spawn(["/bin/sh", "-c", '"$@" & wait', "sh", ...command, ...process.argv.slice(2)], {
      ...{ env: { ...env, SUCCEEDS_SERVER: "1" }, stdio: ["inherit", "inherit", "inherit"] },
      ...{ timeout: listenMs, killSignal: "SIGKILL", onExit },
    });
    const pid = await promise.catch((error) => {
      starting = undefined;
      throw error;
    });
    shell.kill("SIGKILL");
    await shell.exited;
    notice("info", `Process ${pid} replaces this one: finishing requests in flight`);
    successor.resolve(pid);
    return pid;
  }

  const restart = () => ready.promise.then(startSuccessor).catch(({ message }: Error) => notice("error", message));
  process.on("SIGUSR2", () => void restart());
  return {
    startSuccessor,
    /** Call it once this server answers. A SIGUSR2 that came earlier takes effect then. */
    ready: ready.resolve,
    successor: successor.promise,
    /** Records that the successor listens. Never resolves: the successor waits until this process closes the socket. */
    listens(pid: number): Promise<never> {
      if (starting === undefined) throw wrongState("No successor was started.");
      starting.resolve(pid);
      return new Promise(() => {});
    },
  };
}
