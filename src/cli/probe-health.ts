import { UsageError } from "./usage-error.ts";

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
export function formatServerUrl({ host, port }: { host: string; port: number }): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

/**
 * Asks `/health/ready` once. Redirects are not followed: a sign-in page is no healthy server.
 * @throws UsageError for an address that is none.
 */
export async function probeHealth(base: string, timeoutMs: number): Promise<Health> {
  if (!URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol)) {
    throw new UsageError("--url must be an http or https address.");
  }
  const url = `${base.replace(/\/+$/, "")}/health/ready`;
  const started = performance.now();
  const took = () => Math.round(performance.now() - started);
  try {
    const reply = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(timeoutMs) });
    const status = reply.status === 200 ? "ready" : "not ready";
    const message = await readMessage(reply);
    return { status, url, http_status: reply.status, message, took_ms: took() };
  } catch (error) {
    const message = error instanceof Error && error.name === "TimeoutError" ? "no answer in time" : "no connection";
    return { status: "unreachable", url, http_status: null, message, took_ms: took() };
  }
}

async function readMessage(reply: Response): Promise<string> {
  const body: unknown = await reply.json().catch(() => undefined);
  const message = (body as { error?: { message?: unknown } } | undefined)?.error?.message;
  return typeof message === "string" ? message : `the server answered ${reply.status}`;
}
