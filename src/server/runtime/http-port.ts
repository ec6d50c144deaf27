import type { AcmeConfig } from "../config/acme-config.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../db/session.ts";
import { openRow } from "../tls/acme/row.ts";
import { bindPort, reservePort } from "./port.ts";

const challengePath = "/.well-known/acme-challenge/";
const idleSeconds = 10;

/**
 * Opens the port that answers the challenges of a certificate authority, and redirects other requests to https.
 * @param isShared whether other servers of this database may use the port. Each of them answers all challenges.
 */
export async function openHttpPort(config: Config, acme: AcmeConfig, db: Database, isShared: boolean) {
  const { host, publicUrl = "" } = config;
  const { port } = new URL(publicUrl);
  const answer = async (request: Request): Promise<Response> => {
    // Without a usable Host header, Bun sets the URL to the path.
    const { hostname, pathname, search } = new URL(request.url, `http://${acme.names[0]}`);
    if (pathname.startsWith(challengePath)) {
      const { challenges = "{}" } = (await openRow(db, acme).read()) ?? {};
      const answers = new Map(Object.entries<string>(JSON.parse(challenges)));
      const text = answers.get(pathname.slice(challengePath.length));
      return new Response(text ?? "Not found.", { status: text === undefined ? 404 : 200 });
    }
    const name = acme.names.includes(hostname) ? hostname : acme.names[0];
    const location = `https://${name}${port && `:${port}`}${pathname}${search}`;
    return new Response(null, { status: 308, headers: { location, connection: "close" } });
  };
  const wayOut = "Stop it, or let it forward port 80 to another port, which you name with --acme-http-port.";
  const place = { host, port: acme.httpPort, flag: "--acme-http-port", wayOut };
  if (!isShared) await reservePort(place);
  const server = bindPort(place, () =>
    Bun.serve({
      ...{ hostname: host, port: acme.httpPort, idleTimeout: idleSeconds, development: false, fetch: answer },
      reusePort: true,
      error: () => new Response("Not available now.", { status: 503 }),
    }),
  );
  return { stop: () => server.stop(true) };
}
