import { createServer as createPlain, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecure } from "node:https";
import type { AddressInfo } from "node:net";
import { certificate, certificateKey } from "./certificate.ts";

/** Starts a server on loopback, which reads each request completely. `close` also closes its connections. */
export async function startMessageServer(
  take: (request: IncomingMessage, body: Buffer, response: ServerResponse) => unknown,
  { secure = false }: { secure?: boolean } = {},
) {
  const read = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    take(request, Buffer.concat(chunks), response);
  };
  const server = secure ? createSecure({ cert: certificate, key: certificateKey }, read) : createPlain(read);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port, origin: `${secure ? "https" : "http"}://127.0.0.1:${port}`, close };
}
