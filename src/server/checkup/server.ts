import { askServer } from "../control/client.ts";
import type { ServerStatus } from "../control/status.ts";
import { isServerRunning } from "../db/server-lock.ts";
import type { Checkup, CheckupDeps, Finding } from "./finding.ts";

/** Whether a server works on the data directory, answers, and is the program that looks. */
export const server: Checkup = {
  name: "server",
  async find(about) {
    const { config, db, patienceMs } = about;
    // Servers of a database server need not be on this machine.
    if (db === null || db.kind !== "file") return [];
    if (!(await isServerRunning(config.dataDir))) return [describeNone(about)];
    const reply = await askServer(config.dataDir, "/status", AbortSignal.timeout(patienceMs));
    if (reply === null) return [describeSilent(about)];
    const { version, pid } = (await reply.json()) as Pick<ServerStatus, "version" | "pid">;
    return version === about.version ? [] : [describeOther(about, version, pid)];
  },
};

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
