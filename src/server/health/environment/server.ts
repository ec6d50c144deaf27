import { isServerRunning } from "../../db/local/server-lock.ts";
import { askServer } from "../../monitoring/control-socket.ts";
import type { ProcessStatus } from "../../monitoring/server-status.ts";
import type { Finding } from "../finding.ts";
import type { EnvironmentCheck } from "./check.ts";

const retryMs = 500;

/** A server runs on the data directory, all of its workers answer, and it is of the same version as this program. */
export const server = {
  id: "server",
  async run({ config: { dataDir, databaseUrl }, timeoutMs, version: own, command }) {
    // The servers of a libSQL database may run on other machines.
    if (databaseUrl !== undefined) return [];
    const finding = (severity: Finding["severity"], message: string, remedy: string): Finding[] => [
      { severity, subject: dataDir, message, remedy },
    ];
    if (!(await isServerRunning(dataDir))) return finding("note", `No server runs on ${dataDir}.`, command("serve"));
    const status = await readStatus(dataDir, timeoutMs);
    if (status === null) {
      const message = `A server runs on ${dataDir} but does not answer on its control socket. It is starting, it hangs, or it belongs to another account.`;
      return finding("warning", message, "Check its log. If it hangs, restart it.");
    }
    const { version, pid } = status;
    const old = `The server (process ${pid}) is version ${version}, and this program is version ${own}.`;
    return [
      ...(await findHanging(dataDir, timeoutMs, status)).map(describeHanging),
      ...(version === own ? [] : finding("warning", old, "Restart the server to run the installed version.")),
    ];
  },
} satisfies EnvironmentCheck;

type Process = Pick<ProcessStatus, "name" | "pid" | "answers">;

/** The part of a `ServerStatus` that all versions have. */
interface Status {
  version: string;
  pid: number;
  processes?: Process[];
}

async function readStatus(dataDir: string, timeoutMs: number): Promise<Status | null> {
  const reply = await askServer(dataDir, "/status", AbortSignal.timeout(timeoutMs));
  return reply?.ok ? ((await reply.json()) as Status) : null;
}

/** Workers that do not answer twice in a row; one that is only busy answers in between. */
async function findHanging(dataDir: string, timeoutMs: number, first: Status): Promise<Process[]> {
  const silent = (first.processes ?? []).filter(({ answers }) => !answers);
  if (silent.length === 0) return [];
  await Bun.sleep(retryMs);
  const second = (await readStatus(dataDir, timeoutMs))?.processes ?? [];
  return silent.filter(({ pid }) => second.some((one) => one.pid === pid && !one.answers));
}

function describeHanging({ name, pid }: Process): Finding {
  const message = `Worker ${name} of the server (process ${pid}) hangs, and its requests get no answer. The server replaces it when it ends.`;
  return { severity: "error", subject: `worker ${name}`, message, remedy: `kill -KILL ${pid}` };
}
