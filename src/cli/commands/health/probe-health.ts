import { UsageError } from "../../terminal/usage-error.ts";

/** What a server said of itself, or why it said nothing. */
export interface Health {
  status: "ready" | "not ready" | "unreachable";
  url: string;
  /** HTTP status of the answer; null when there was none. */
  http_status: number | null;
  message: string;
  /** Milliseconds until the answer. */
  took_ms: number;
}

/** The address at which a server with this configuration is reached from its own machine. */
export function formatServerUrl({ host, port, tls }: { host: string; port: number; tls?: unknown }): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `${tls === undefined ? "http" : "https"}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

/**
 * Asks the server at its own machine's address. Its certificate is for the name that the world knows, so here it is not
 * judged; and a server whose certificate was named by flags is found as well.
 */
export async function probeOwnHealth(base: string, timeoutMs: number): Promise<Health> {
  const first = await askReady(base, timeoutMs, { isOwn: true });
  if (first.status !== "unreachable" || !first.isCut || !base.startsWith("http:")) return first.health;
  const second = await askReady(base.replace("http:", "https:"), timeoutMs, { isOwn: true });
  return second.status === "unreachable" ? first.health : second.health;
}

/**
 * Asks `/health/ready` once. Redirects are not followed: a sign-in page is no healthy server.
 * @throws UsageError for an address that is none.
 */
export async function probeHealth(base: string, timeoutMs: number): Promise<Health> {
  if (!URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol)) {
    throw new UsageError("--url must be an http or https address.");
  }
  const first = await askReady(base, timeoutMs, { isOwn: false });
  if (first.status !== "unreachable" || !first.isCut || !/^http:/i.test(base)) return first.health;
  // Only whether it speaks TLS is asked here, so its certificate does not matter.
  const second = await askReady(base.replace(/^http:/i, "https:"), timeoutMs, { isOwn: true });
  if (second.status === "unreachable") return first.health;
  return { ...first.health, message: "no connection by http; this port speaks https" };
}

/** `isCut`: somebody listens there and spoke no HTTP, as who waits for TLS does. */
async function askReady(base: string, timeoutMs: number, { isOwn }: { isOwn: boolean }) {
  const url = `${base.replace(/\/+$/, "")}/health/ready`;
  const started = performance.now();
  const tell = (status: Health["status"], http_status: number | null, message: string) => {
    const took_ms = Math.round(performance.now() - started);
    return { status, isCut: false, health: { status, url, http_status, message, took_ms } satisfies Health };
  };
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const reply = await fetch(url, {
      redirect: "manual",
      signal,
      ...(isOwn && { tls: { rejectUnauthorized: false } }),
    });
    return tell(reply.status === 200 ? "ready" : "not ready", reply.status, await readMessage(reply));
  } catch (error) {
    const { name, code, message } = error as { name?: string; code?: unknown; message?: string };
    if (name === "TimeoutError") return tell("unreachable", null, "no answer in time");
    const isRefused = typeof code === "string" && /CERT|ISSUER|SIGNATURE|TLS/.test(code);
    const outcome = tell("unreachable", null, isRefused ? `the certificate is refused: ${message}` : "no connection");
    return { ...outcome, isCut: code === "ECONNRESET" };
  }
}

async function readMessage(reply: Response): Promise<string> {
  const body: unknown = await reply.json().catch(() => undefined);
  const message = (body as { error?: { message?: unknown } } | undefined)?.error?.message;
  return typeof message === "string" ? message : `the server answered ${reply.status}`;
}
