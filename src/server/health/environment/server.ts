import { isServerRunning } from "../../db/local/server-lock.ts";
import { askServer } from "../../monitoring/control-socket.ts";
import type { ProcessStatus } from "../../monitoring/server-status.ts";
import type { Checkup, CheckupDeps, Finding } from "./finding.ts";

const looks = 3;
const betweenMs = 200;

type Process = Pick<ProcessStatus, "name" | "pid" | "answers">;

/** Whether a server works on the data directory, answers with all of its workers, and is the program that looks. */
export const server: Checkup = {
  name: "server",
  async find(about) {
    const { config, db, timeoutMs } = about;
    // Servers of a database server need not be on this machine.
    if (db === null || db.kind !== "file") return [];
    if (!(await isServerRunning(config.dataDir))) return [describeNone(about)];
    const status = await askStatus(config.dataDir, timeoutMs);
    if (status === null) return [describeSilent(about)];
    const { version, pid } = status;
    const hung = await findHung(config.dataDir, timeoutMs, status);
    return [...hung.map(describeHung), ...(version === about.version ? [] : [describeOther(about, version, pid)])];
  },
};

/** What is needed of a `ServerStatus`; another version may say less. */
interface Status {
  version: string;
  pid: number;
  processes?: Process[];
}

async function askStatus(dataDir: string, timeoutMs: number): Promise<Status | null> {
  const reply = await askServer(dataDir, "/status", AbortSignal.timeout(timeoutMs));
  return reply?.ok ? ((await reply.json()) as Status) : null;
}

/** Workers that do not answer however often they are asked: one that only has much to do answers in between. */
async function findHung(dataDir: string, timeoutMs: number, first: Status): Promise<Process[]> {
  let hung = silentOnes(first);
  for (let look = 1; look < looks && hung.length > 0; look++) {
    await Bun.sleep(betweenMs);
    const status = await askStatus(dataDir, timeoutMs);
    // One that has been started in the same place meanwhile is another.
    const still = new Set(status === null ? [] : silentOnes(status).map(({ pid }) => pid));
    hung = hung.filter(({ pid }) => still.has(pid));
  }
  return hung;
}

function silentOnes({ processes = [] }: Status): Process[] {
  return processes.filter(({ answers }) => !answers);
}

function describeHung({ name, pid }: Process): Finding {
  return {
    severity: "error",
    subject: `worker ${name}`,
    message: `Worker ${name} of the server (process ${pid}) hangs: whoever it has taken is not answered. Once it is ended, the server starts another.`,
    remedy: `kill -KILL ${pid}`,
  };
}

function describeNone({ config: { dataDir }, command }: CheckupDeps): Finding {
  const message = `No server works on ${dataDir}.`;
  return { severity: "note", subject: dataDir, message, remedy: command("serve") };
}

function describeSilent({ config: { dataDir } }: CheckupDeps): Finding {
  return {
    severity: "warning",
    subject: dataDir,
    message:
      `A server works on ${dataDir}, and does not answer on its control socket: it is only starting, it hangs, or the socket ` +
      "is another account's.",
    remedy: "See its log; if it hangs, restart it.",
  };
}

function describeOther({ config: { dataDir }, version: own }: CheckupDeps, version: string, pid: number): Finding {
  return {
    severity: "warning",
    subject: dataDir,
    message: `The server (process ${pid}) is version ${version}, and this program is ${own}.`,
    remedy: "Restart the server, so that it is the program that is installed.",
  };
}
