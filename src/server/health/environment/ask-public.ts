import { randomUUID } from "node:crypto";
import { askServer } from "../../monitoring/control-socket.ts";
import type { RecentRequest } from "../../monitoring/server-status.ts";
import type { CheckupDeps } from "./finding.ts";

/** What became of a call of the public address, on both of its ends. */
export interface PublicCall {
  requestId: string;
  /** Null where there was no answer. */
  reply: {
    status: number;
    /** Where it sends us on to; null where it does not. */
    location: string | null;
    /** The request id in Bodega's own envelope; null where somebody else answers. */
    requestId: string | null;
  } | null;
  /** Why there was no answer: `TIMEOUT`, or the system's code, such as `ECONNREFUSED` or `CERT_HAS_EXPIRED`. */
  fault: string | null;
  /** How the server of this data directory saw the call; null where it did not. */
  seen: RecentRequest | null;
  /** Whether that server runs. */
  isRunning: boolean;
}

/** An address of nobody, which the call claims to come from. */
export const forgedHop = "192.0.2.123";

const lookMs = 100;
const maxLooks = 5;

/** Calls `/health/live` at the public address, and asks the server of this machine how that arrived. */
export async function askPublic(publicUrl: string, { config, timeoutMs }: CheckupDeps): Promise<PublicCall> {
  const requestId = `doctor-${randomUUID()}`;
  const call: PublicCall = { requestId, reply: null, fault: null, seen: null, isRunning: false };
  try {
    const reply = await fetch(`${publicUrl}/health/live`, {
      headers: { "x-request-id": requestId, "x-forwarded-for": forgedHop },
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
    const body = (await reply.json().catch(() => null)) as { request_id?: unknown; data?: unknown } | null;
    const isOurs = typeof body?.request_id === "string" && body.data !== undefined;
    const location = reply.status >= 300 && reply.status < 400 ? reply.headers.get("location") : null;
    call.reply = { status: reply.status, location, requestId: isOurs ? String(body.request_id) : null };
  } catch (error) {
    const { name, code } = error as { name?: string; code?: unknown };
    call.fault = name === "TimeoutError" ? "TIMEOUT" : String(code ?? name);
  }
  // What a worker saw reaches the process that answers here a moment later.
  for (let look = 0; look < maxLooks; look++) {
    const told = await askServer(config.dataDir, `/requests?id=${requestId}`);
    call.isRunning = told !== null;
    if (told?.ok) call.seen = (await told.json()) as RecentRequest;
    if (call.seen !== null || !call.isRunning || call.reply?.requestId !== requestId) break;
    await Bun.sleep(lookMs);
  }
  return call;
}
