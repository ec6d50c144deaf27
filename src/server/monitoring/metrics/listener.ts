import { unavailable } from "../../errors.ts";
import { hasToken, metricsType } from "./page.ts";

/** Who may read the figures, and where. */
interface MetricsListenerOptions {
  host: string;
  port: number;
  /** Without it, whoever reaches the port may read. */
  token: string | undefined;
  text: () => Promise<string>;
}

/**
 * Serves `/metrics`, and nothing else, on a port of its own.
 * @throws unavailable when the port cannot be had.
 */
export function listenForMetrics({ host, port, token, text }: MetricsListenerOptions): { url: string; stop(): void } {
  const server = bind(host, port, async (request) => {
    if (new URL(request.url).pathname !== "/metrics") return plain(404, "See /metrics.");
    if (request.method !== "GET" && request.method !== "HEAD") return plain(405, "Use GET.", { Allow: "GET, HEAD" });
    if (token !== undefined && !hasToken(request, token)) {
      return plain(401, "The token is missing or wrong.", { "WWW-Authenticate": "Bearer" });
    }
    return new Response(await text(), { headers: { "Content-Type": metricsType, "Cache-Control": "no-store" } });
  });
  const name = host.includes(":") ? `[${host}]` : host;
  return { url: `http://${name}:${server.port}/metrics`, stop: () => void server.stop(true) };
}

function bind(hostname: string, port: number, fetch: (request: Request) => Promise<Response>) {
  try {
    return Bun.serve({ hostname, port, reusePort: false, development: false, fetch, error: unanswered });
  } catch (cause) {
    throw unavailable(`Cannot listen on ${hostname}:${port} for --metrics.`, { cause });
  }
}

function unanswered(): Response {
  return plain(503, "The figures cannot be told now.");
}

function plain(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(`${text}\n`, { status, headers: { "Content-Type": "text/plain; charset=utf-8", ...headers } });
}
