import type { Config } from "../config/config.ts";
import { unavailable } from "../errors.ts";
import type { Certificate } from "../tls/certificate.ts";
import type { SocketStep } from "../tls/exchange-certificate.ts";

/** A port that is listened on, whose certificate can be exchanged while it answers. */
export interface OpenPort {
  url: string;
  port: number;
  /** The address of who sent a request. */
  peerOf(request: Request): string | null;
  /**
   * Takes a step of exchanging the certificate, one after the other. Once another socket begins, who is connected already
   * is answered, and asked to come again.
   * @returns whether the system knows the step. Throws when a certificate cannot be used; then nothing has changed.
   */
  step(step: SocketStep): Promise<boolean>;
  /** Takes no new connections, lets what has begun finish, and cuts what is left after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** What a socket presents; both PEM. */
export type PemPair = Pick<Certificate, "cert" | "key">;

type Server = ReturnType<typeof Bun.serve>;

interface Generation {
  server: Server;
  /** From now on the answers ask to connect again. */
  retire(): void;
}

/** Longer than the time a body may take, so that a slow one is answered before Bun would cut the connection. */
export const idleSeconds = 30;
/** As long as a connection without requests stays, so that each has been told to come again before the socket closes. */
export const lingerMs = (idleSeconds + 5) * 1000;

/**
 * Starts to answer on a port.
 * @param shared whether others listen on it on purpose: workers, or a socket that takes over with another certificate.
 * @throws unavailable when the port is in use or the host is not this machine's.
 */
export function openPort(
  config: Config,
  { shared, certificate, fetch }: { shared: boolean; certificate: PemPair | null; fetch: Answer },
): OpenPort {
  const servers = new Set<Server>();
  let current = begin(config.port, certificate);
  const port = current.server.port ?? config.port;
  let leaving: Server | undefined;
  let isStopping = false;
  let stepping: Promise<unknown> = Promise.resolve();

  function begin(onPort: number, presented: PemPair | null): Generation {
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

  function exchange(next: PemPair): void {
    // One that nobody has let go of, because this process was not reached, leaves now.
    letGo();
    const before = current;
    current = begin(port, next);
    before.retire();
    leaving = before.server;
  }

  function letGo(): void {
    const server = leaving;
    leaving = undefined;
    void server?.stop().then(() => servers.delete(server));
  }

  async function take(step: SocketStep): Promise<boolean> {
    if (step.do === "steer") {
      const { steerConnections } = await import("../tls/steer-connections.ts");
      return steerConnections(port, step.first, step.count);
    }
    if (isStopping) return true;
    if (step.do === "begin") exchange(step);
    else letGo();
    return true;
  }

  return {
    url: addressOf(config.host, port, certificate !== null),
    port,
    peerOf: (request) => current.server.requestIP(request)?.address ?? null,
    step(step) {
      const taken = stepping.then(() => take(step));
      stepping = taken.catch(() => {});
      return taken;
    },
    async stop(graceMs) {
      const deadline = performance.now() + graceMs;
      isStopping = true;
      const open = [...servers];
      const stopped = Promise.all(open.map((server) => server.stop()));
      const isBusy = () => open.some((server) => server.pendingRequests > 0);
      while (isBusy() && performance.now() < deadline) await Promise.race([stopped, Bun.sleep(10)]);
      await Promise.all(open.map((server) => server.stop(true)));
    },
  };
}

type Answer = (request: Request) => Response | Promise<Response>;

async function closeAfter(answer: Response | Promise<Response>): Promise<Response> {
  const response = await answer;
  response.headers.set("Connection", "close");
  return response;
}

/**
 * Makes sure that a port is free before several sockets share it, and finds one for port 0.
 * @throws unavailable as `openPort`.
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
      throw unavailable(`${where} is in use by another program. Choose another port with --port.`, { cause });
    }
    if (code === "EACCES") throw unavailable(`${where} may not be used by this account.`, { cause });
    throw unavailable(`Cannot listen on ${where}. Check --host and --port.`, { cause });
  }
}

/** The address under which this machine reaches a server that listens on `host`. */
export function addressOf(host: string, port: number, isEncrypted: boolean): string {
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host;
  return `${isEncrypted ? "https" : "http"}://${name}:${port}`;
}
