import { createServer, type IncomingMessage, type ServerResponse, request as sendTo } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * What a proxy does with a request. It ends the connection before the server gets the request (`cut`), after the server
 * has replied (`lose`), or in the middle of the reply (`break`). An object is the proxy's own reply.
 */
export type Fault = "cut" | "lose" | "break" | { status: number; body: string; headers?: Record<string, string> };

/** A request that arrived at the proxy. */
export interface Passed {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Record<string, string | undefined>;
  body: string;
}

export interface FaultyProxy {
  url: string;
  passed: Passed[];
  /** The faults of the next requests, in their order. */
  faults: Fault[];
  /** Each request waits for this promise before the proxy handles it. */
  hold: Promise<unknown>;
  close: () => Promise<void>;
}

/** Starts a proxy on loopback in front of a server. */
export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const proxy: Omit<FaultyProxy, "url" | "close"> = { passed: [], faults: [], hold: Promise.resolve() };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { pathname: path, searchParams: query } = new URL(request.url ?? "", target);
    const headers = request.headers as Record<string, string | undefined>;
    proxy.passed.push({ method: request.method ?? "", path, query, headers, body: body.toString() });
    const fault = proxy.faults.shift();
    await proxy.hold;
    if (fault === "cut") return request.socket.destroy();
    if (typeof fault === "object") return response.writeHead(fault.status, fault.headers).end(fault.body);
    pass(target, request, body, (answer) => {
      if (fault === "lose") request.socket.destroy();
      else if (fault === "break") void copyHalf(answer, response);
      else copy(answer, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return Object.assign(proxy, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close });
}

function pass(
  target: string,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  use: (answer: IncomingMessage) => void,
) {
  sendTo(new URL(url ?? "", target), { method, headers: { ...headers, host: new URL(target).host } }, use).end(body);
}

function copy(answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  answer.pipe(response);
}

/** Sends status, headers and half of the body, then ends the connection. */
async function copyHalf(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  response.writeHead(answer.statusCode ?? 502, { ...answer.headers, "content-length": body.length });
  response.write(body.subarray(0, body.length / 2), () => response.socket?.end());
}
