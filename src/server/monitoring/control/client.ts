import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { databaseFile } from "../../db/local/data-dir.ts";

/** A server that is alive answers within this time, also under load. */
const timeoutMs = 5000;

/** The socket on which the server of a data directory answers its own machine. */
export function controlSocket(dataDir: string): string {
  return join(dirname(databaseFile(dataDir)), "server.sock");
}

/**
 * Asks the server of a data directory: `/status` (`ServerStatus`), `/seen?request_id=…` (`SeenRequest`, or 404),
 * `/metrics` (text for Prometheus).
 * @returns null where no server answers.
 */
export async function askServer(dataDir: string, path: string, signal?: AbortSignal): Promise<Response | null> {
  const socket = controlSocket(dataDir);
  if (!existsSync(socket)) return null;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    return await fetch(`http://localhost${path}`, {
      unix: socket,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
  } catch {
    // A socket that was left behind, another account's, or a server that hangs.
    return null;
  }
}
