import type { Environment } from "../config/environment.ts";
import { unavailable, wrongState } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";

/** If the next server does not listen within this time, the present one goes on. */
const listenMs = 15_000;

export const isSuccessor = (env: Environment) => env.SUCCEEDS_SERVER === "1";

/**
 * Prepares a restart without a closed port. `startSuccessor` starts the executable on disk with the same arguments, and
 * resolves with its process id once that listens; SIGUSR2 calls it. `successor` then resolves: this server must end.
 */
export function prepareSuccession(command: readonly string[], env: Environment, notice: LogWriter["notice"]) {
  const successor = Promise.withResolvers<number>();
  let announce: ((pid: number) => void) | undefined;

  async function startSuccessor(): Promise<number> {
    if (announce) return successor.promise;
    const listening = Promise.withResolvers<number>();
    const onExit = () => listening.reject(unavailable("The next server does not listen, so the present one goes on."));
    // systemd stops only its own children gracefully, so the shell between this process and the successor is killed.
    const shell = Bun.spawn(["/bin/sh", "-c", '"$@" & wait', "sh", ...command, ...process.argv.slice(2)], {
      ...{ env: { ...env, SUCCEEDS_SERVER: "1" }, stdio: ["inherit", "inherit", "inherit"] },
      ...{ timeout: listenMs, killSignal: "SIGKILL", onExit },
    });
    announce = listening.resolve;
    const pid = await listening.promise.catch((error) => {
      announce = undefined;
      throw error;
    });
    shell.kill("SIGKILL");
    await shell.exited;
    notice("info", `Process ${pid} takes over: finishing requests in flight`);
    successor.resolve(pid);
    return pid;
  }

  process.on("SIGUSR2", () => void startSuccessor().catch(({ message }: Error) => notice("error", message)));
  return {
    startSuccessor,
    successor: successor.promise,
    /** Takes note that the successor listens. Resolves never: its caller waits until this process closes the socket. */
    listens(pid: number): Promise<never> {
      if (announce === undefined) throw wrongState("No successor was started.");
      announce(pid);
      return new Promise(() => {});
    },
  };
}
