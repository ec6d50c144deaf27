import { createHash, timingSafeEqual } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { databaseFile, makeDataDir } from "../config/data-dir.ts";
import { errnoOf, unavailable } from "../errors.ts";
import type { RecentRequest } from "./process-monitor.ts";
import type { ServerStatus } from "./read-status.ts";

export interface ControlAnswers {
  status: () => Promise<ServerStatus>;
  findRequest: (requestId: string) => Promise<RecentRequest | null>;
  startSuccessor: () => Promise<number>;
  listens: (pid: number) => Promise<never>;
}

function controlSocket(dataDir: string): string {
  return join(dirname(databaseFile(dataDir)), "server.sock");
}

/** Sends a request to the control socket of a data directory's server. Returns null if no server answers. */
export async function requestServer(dataDir: string, path: string, timeoutMs = 5000): Promise<Response | null> {
  const unix = controlSocket(dataDir);
  if (!existsSync(unix)) return null;
  try {
    return await fetch(`http://localhost${path}`, { unix, signal: AbortSignal.timeout(timeoutMs) });
  } catch {
    // The server was killed, belongs to another account, or hangs.
    return null;
  }
}

export async function readServerStatus(dataDir: string, timeoutMs?: number): Promise<ServerStatus | null> {
  const reply = await requestServer(dataDir, "/status", timeoutMs);
  return reply?.ok ? ((await reply.json()) as ServerStatus) : null;
}

/**
 * Listens on the control socket, which only the server's account can open. Replaces the socket of a killed server.
 * Returns null if another server of the same libSQL database listens on it. Errors: unavailable.
 */
export async function openControlSocket(dataDir: string, answers: ControlAnswers): Promise<{ close(): void } | null> {
  makeDataDir(dataDir);
  const unix = controlSocket(dataDir);
  if (await requestServer(dataDir, "/")) return null;
  rmSync(unix, { force: true });
  // The mask applies when the socket is created, so that its mode is never wider, not even for a moment.
  const mask = process.umask(0o177);
  try {
    const server = Bun.serve({
      unix,
      fetch: (request) => answer(answers, request),
      development: false,
      error: () => Response.json({ error: "The status is not available now." }, { status: 503 }),
    });
    return { close: () => void server.stop(true) };
  } catch (cause) {
    throw unavailable(`The control socket ${unix} cannot be opened (${errnoOf(cause)}).`, { cause });
  } finally {
    process.umask(mask);
  }
}

async function answer(answers: ControlAnswers, request: Request): Promise<Response> {
  const { status, findRequest, startSuccessor, listens } = answers;
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === "/status") return Response.json(await status());
  if (pathname === "/succeed") return Response.json(await startSuccessor());
  if (pathname === "/listening") return listens(Number(searchParams.get("pid")));
  const found = pathname === "/requests" ? await findRequest(searchParams.get("id") ?? "") : null;
  return found ? Response.json(found) : Response.json({ error: "Not found." }, { status: 404 });
}

export const metricsType = "text/plain; version=0.0.4; charset=utf-8";

const digest = (text: string) => createHash("sha256").update(text).digest();

export function hasToken(request: Request, token: string): boolean {
  const [, sent] = /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  return sent !== undefined && timingSafeEqual(digest(sent), digest(token));
}
