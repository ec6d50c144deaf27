import { createHash, timingSafeEqual } from "node:crypto";
import { errnoOf, unavailable } from "../../errors.ts";

export const metricsType = "text/plain; version=0.0.4; charset=utf-8";

export function hasToken(request: Request, token: string): boolean {
  const [, sent] = /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  return sent !== undefined && timingSafeEqual(digest(sent), digest(token));
}

/** Serves `/metrics`, and nothing else, on its own port; without a token, to everyone. Errors: unavailable. */
export function listenForMetrics(
  { host, port }: { host: string; port: number },
  { token, text }: { token: string | undefined; text: () => Promise<string> },
): { url: string; stop(): void } {
  const answer = async (request: Request) => {
    if (new URL(request.url).pathname !== "/metrics") return plain(404, "See /metrics.");
    if (request.method !== "GET" && request.method !== "HEAD") return plain(405, "Use GET.", { Allow: "GET, HEAD" });
    if (token !== undefined && !hasToken(request, token)) {
      return plain(401, "The token is missing or wrong.", { "WWW-Authenticate": "Bearer" });
    }
    return new Response(await text(), { headers: { "Content-Type": metricsType, "Cache-Control": "no-store" } });
  };
  const error = () => plain(503, "The metrics are not available now.");
  try {
    const server = Bun.serve({ hostname: host, port, reusePort: false, development: false, fetch: answer, error });
    const name = host.includes(":") ? `[${host}]` : host;
    return { url: `http://${name}:${server.port}/metrics`, stop: () => void server.stop(true) };
  } catch (cause) {
    throw unavailable(`Cannot listen on ${host}:${port} for --metrics (${errnoOf(cause)}).`, { cause });
  }
}

function plain(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(`${text}\n`, { status, headers: { "Content-Type": "text/plain; charset=utf-8", ...headers } });
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
