import { connect, createServer, type Socket } from "node:net";

/** Passes TCP connections on to a server. Tests can make it misbehave. */
export interface TcpProxy {
  port: number;
  /** Gets the bytes of clients. Returns the bytes to send on, or null for none. */
  onSend: (bytes: Buffer) => Buffer | null;
  /** Gets the bytes of the server. Returns the bytes to send on, or null for none. */
  onAnswer: (bytes: Buffer) => Buffer | null;
  /** The delay in each direction, in milliseconds. */
  delayMs: number;
  /** The number of connections so far. */
  opened: number;
  /** Stops passing data over the present connections, which stay open, as after a cut cable. */
  silence(): void;
  /** Resets all connections. */
  cut(): void;
  stop(): void;
}

/** Starts a proxy to a port of this machine. The proxy has a free port. */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let silenced = 0;
  const proxy: TcpProxy = {
    port: 0,
    delayMs: 0,
    opened: 0,
    onSend: (bytes) => bytes,
    onAnswer: (bytes) => bytes,
    silence() {
      silenced = proxy.opened;
    },
    cut() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    stop() {
      proxy.cut();
      server.close();
    },
  };
  const server = createServer((client) => {
    const number = ++proxy.opened;
    const upstream = connect(target, "127.0.0.1");
    const join = (from: Socket, to: Socket, see: (bytes: Buffer) => Buffer | null) => {
      sockets.add(from);
      from.on("data", (bytes: Buffer) => {
        const passed = number > silenced ? see(bytes) : null;
        if (passed && proxy.delayMs > 0) setTimeout(() => to.write(passed), proxy.delayMs);
        else if (passed) to.write(passed);
      });
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    };
    join(client, upstream, (bytes) => proxy.onSend(bytes));
    join(upstream, client, (bytes) => proxy.onAnswer(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  proxy.port = (server.address() as { port: number }).port;
  return proxy;
}
