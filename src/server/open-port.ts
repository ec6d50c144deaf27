import type { Config } from "./config.ts";
import { AppError } from "./errors.ts";
import type { Certificate } from "./tls/certificate.ts";
import type { steerConnections } from "./tls/steer-connections.ts";

/** A port that is listened on, whose certificate can be exchanged while it answers. */
export interface OpenPort {
  url: string;
  port: number;
  /** The address of who sent a request. */
  peerOf(request: Request): string | null;
  /**
   * Presents another certificate to who connects from now on. Who is connected already is answered, and asked to come
   * again. Throws when it cannot be used; then nothing has changed. Not sooner again than `exchangePause` says.
   */
  present(certificate: Certificate): Promise<void>;
  /** Takes no new connections, lets what has begun finish, and cuts what is left after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

type Server = ReturnType<typeof Bun.serve>;

interface Generation {
  server: Server;
  /** From now on the answers ask to connect again. */
  retire(): void;
}

/** Longer than the time a body may take, so that a slow one is answered before Bun would cut the connection. */
export const idleSeconds = 30;
/** As long as a connection without requests stays, so that each has been told to come again before the socket closes. */
const lingerMs = (idleSeconds + 5) * 1000;
/** Whoever was connecting while another socket took over has come through by then, from the other end of the world too. */
const handoverMs = 1000;
/** Workers do not see a change at the same moment. */
const workersMs = 10_000;

/**
 * Starts to answer on a port.
 * @param shared whether others listen on it on purpose: workers, or a socket that takes over with another certificate.
 * @throws AppError 5001 when the port is in use or the host is not this machine's.
 */
export function openPort(
  config: Config,
  { shared, certificate, fetch }: { shared: boolean; certificate: Certificate | null; fetch: Answer },
): OpenPort {
  const servers = new Set<Server>();
  let current = begin(config.port, certificate);
  const port = current.server.port ?? config.port;
  let leaving: { server: Server; timer: ReturnType<typeof setTimeout> } | undefined;

  function begin(onPort: number, presented: Certificate | null): Generation {
    let isRetired = false;
    const server = bindPort(config, () =>
      Bun.serve({
        hostname: config.host,
        port: onPort,
        reusePort: shared,
        idleTimeout: idleSeconds,
        // Bun would answer a larger body itself, outside the envelope; the limit that counts is enforced while reading.
        maxRequestBodySize: Number.MAX_SAFE_INTEGER,
        development: false,
        ...(presented && { tls: { cert: presented.cert, key: presented.key } }),
        fetch: (request) => (isRetired ? closeAfter(fetch(request)) : fetch(request)),
      }),
    );
    servers.add(server);
    return {
      server,
      retire: () => {
        isRetired = true;
      },
    };
  }

  /** As sockets leave, places change, but for the first of those that stay: it alone gets what comes meanwhile. */
  async function prepareToLetGo(): Promise<void> {
    const prepared = leaving;
    await steer(port, config.workers, 1);
    if (leaving && leaving === prepared) leaving.timer = setTimeout(letGo, handoverMs);
  }

  /** The one before has had its time, or makes room for the next but one: there are never more than two. */
  function letGo(): void {
    if (!leaving) return;
    const { server, timer } = leaving;
    leaving = undefined;
    clearTimeout(timer);
    void server.stop().then(() => servers.delete(server));
  }

  return {
    url: addressOf(config.host, port, certificate !== null),
    port,
    peerOf: (request) => current.server.requestIP(request)?.address ?? null,
    async present(next) {
      letGo();
      // To the next sockets of all workers, by turns. Where that cannot be had, the one before leaves soon.
      const isSteered = await steer(port, config.workers, config.workers);
      const before = current;
      current = begin(port, next);
      before.retire();
      const timer = setTimeout(isSteered ? prepareToLetGo : letGo, isSteered ? lingerMs : handoverMs);
      leaving = { server: before.server, timer };
    },
    async stop(graceMs) {
      const deadline = performance.now() + graceMs;
      clearTimeout(leaving?.timer);
      leaving = undefined;
      const open = [...servers];
      const stopped = Promise.all(open.map((server) => server.stop()));
      const isBusy = () => open.some((server) => server.pendingRequests > 0);
      while (isBusy() && performance.now() < deadline) await Promise.race([stopped, Bun.sleep(10)]);
      await Promise.all(open.map((server) => server.stop(true)));
    },
  };
}

/**
 * Milliseconds from one exchange of the certificate to the next. Sockets are told apart by their place among all that
 * listen, so where there are workers, the last socket of one exchange has to be gone before the first of the next.
 */
export function exchangePause({ workers }: Config): number {
  return workers > 1 ? lingerMs + workersMs : handoverMs;
}

/** Loaded by the first exchange. */
async function steer(...args: Parameters<typeof steerConnections>): Promise<boolean> {
  const { steerConnections } = await import("./tls/steer-connections.ts");
  return steerConnections(...args);
}

type Answer = (request: Request) => Response | Promise<Response>;

async function closeAfter(answer: Response | Promise<Response>): Promise<Response> {
  const response = await answer;
  response.headers.set("Connection", "close");
  return response;
}

/**
 * Makes sure that a port is free before several sockets share it, and finds one for port 0.
 * @throws AppError 5001 as `openPort`.
 */
export async function reservePort(config: Config): Promise<number> {
  const probe = bindPort(config, () =>
    Bun.serve({ hostname: config.host, port: config.port, reusePort: false, fetch: () => new Response(null) }),
  );
  const port = probe.port ?? config.port;
  await probe.stop(true);
  return port;
}

function bindPort<T>(config: Config, bind: () => T): T {
  try {
    return bind();
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    const where = `${config.host}:${config.port}`;
    if (code === "EADDRINUSE") {
      throw new AppError(5001, `${where} is in use by another program. Choose another port with --port.`, { cause });
    }
    if (code === "EACCES") throw new AppError(5001, `${where} may not be used by this account.`, { cause });
    throw new AppError(5001, `Cannot listen on ${where}. Check --host and --port.`, { cause });
  }
}

/** The address under which this machine reaches a server that listens on `host`. */
export function addressOf(host: string, port: number, isEncrypted: boolean): string {
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host;
  return `${isEncrypted ? "https" : "http"}://${name}:${port}`;
}
