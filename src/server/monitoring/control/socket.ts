import { rmSync } from "node:fs";
import { makeDataDir } from "../../db/local/data-dir.ts";
import { unavailable } from "../../errors.ts";
import { metricsType } from "../metrics/page.ts";
import { askServer, controlSocket } from "./client.ts";
import type { SeenRequest, ServerStatus } from "./status.ts";

/** What a server answers on its control socket. */
export interface ControlAnswers {
  status: () => Promise<ServerStatus>;
  metrics: () => Promise<string>;
  findSeen: (requestId: string) => Promise<SeenRequest | null>;
}

/**
 * Listens on the control socket of a data directory, which only the account of the server can open. One that a killed
 * server has left behind is replaced.
 * @returns how it is closed and removed; null where another server, beside the same database server, has it already.
 * @throws unavailable when the system refuses it, for instance because the path is too long.
 */
export async function openControlSocket(dataDir: string, answers: ControlAnswers): Promise<{ close(): void } | null> {
  makeDataDir(dataDir);
  const path = controlSocket(dataDir);
  if (await askServer(dataDir, "/live")) return null;
  rmSync(path, { force: true });
  const server = listenPrivately(path, (request) => answer(answers, request));
  return { close: () => void server.stop(true) };
}

/** The mode stands before anyone can connect: between making a socket and changing its mode there would be a moment. */
function listenPrivately(path: string, fetch: (request: Request) => Promise<Response>) {
  const mask = process.umask(0o177);
  try {
    return Bun.serve({ unix: path, fetch, development: false, error: unanswered });
  } catch (cause) {
    throw unavailable(`The control socket ${path} cannot be opened.`, { cause });
  } finally {
    process.umask(mask);
  }
}

function unanswered(): Response {
  return Response.json({ error: "This cannot be told now." }, { status: 503 });
}

async function answer({ status, metrics, findSeen }: ControlAnswers, request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  if (request.method !== "GET") return Response.json({ error: "Only GET is answered here." }, { status: 405 });
  if (pathname === "/live") return Response.json({ status: "ok" });
  if (pathname === "/status") return Response.json(await status());
  if (pathname === "/metrics") return new Response(await metrics(), { headers: { "Content-Type": metricsType } });
  if (pathname === "/seen") {
    const seen = await findSeen(searchParams.get("request_id") ?? "");
    if (seen !== null) return Response.json(seen);
  }
  return Response.json({ error: "There is nothing here." }, { status: 404 });
}
