import { UsageError } from "../../terminal/usage-error.ts";

/** The readiness of a server, or why it did not answer. */
export interface Health {
  status: "ready" | "not ready" | "unreachable";
  url: string;
  /** HTTP status of the answer; null when there was none. */
  http_status: number | null;
  message: string;
  /** Milliseconds until the answer. */
  took_ms: number;
}

/** The address of a server with this configuration for its own machine. */
export function formatServerUrl({ host, port, tls }: { host: string; port: number; tls?: unknown }): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `${tls === undefined ? "http" : "https"}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

/**
 * Checks the server of this machine. Its certificate is for its public name and is not verified here. https is tried too,
 * because the certificate may be set by flags that this command does not have.
 */
export async function probeOwnHealth(base: string, timeoutMs: number): Promise<Health> {
  const first = await askReady(base, timeoutMs, { isOwn: true });
  if (first.status !== "unreachable" || !first.isCut || !base.startsWith("http:")) return first.health;
  const second = await askReady(base.replace("http:", "https:"), timeoutMs, { isOwn: true });
  return second.status === "unreachable" ? first.health : second.health;
}

/**
 * Requests `/health/ready` without following redirects, because a login page is no healthy server.
 * @throws UsageError for an invalid address.
 */
export async function probeHealth(base: string, timeoutMs: number): Promise<Health> {
  if (!URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol)) {
    throw new UsageError("--url must be an http or https address.");
  }
  const first = await askReady(base, timeoutMs, { isOwn: false });
  if (first.status !== "unreachable" || !first.isCut || !/^http:/i.test(base)) return first.health;
  // This only finds out whether the port speaks TLS, so the certificate does not matter.
  const second = await askReady(base.replace(/^http:/i, "https:"), timeoutMs, { isOwn: true });
  if (second.status === "unreachable") return first.health;
  return { ...first.health, message: "no connection by http; this port speaks https" };
}

/** `isCut`: the port is open but closed the connection, like a TLS port does. */
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
