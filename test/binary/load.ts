import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";

/** Clients, each of which creates one product after another. */
export interface Load {
  /** Ids of the products that were created with 201, in the order of the replies. */
  created: string[];
  /** All replies except 201, and except those that `contended` allows. */
  refused: string[];
  /** Counts the requests whose connection ended without a reply. */
  cut: () => number;
  /** Stops the clients after their present requests. */
  stop: () => Promise<void>;
}

interface LoadOptions {
  url: string;
  namespace: string;
  auth: string;
  clients: number;
  /** Whether a client continues after a lost connection. By default it ends. */
  persistent?: boolean;
  /** Whether a write may be refused with 5001, because other processes held the lock for too long. */
  contended?: boolean;
}

/** How long a write waits for the lock of another process, in milliseconds. */
const lockWaitMs = 5000;
/** How long a client pauses after a write, in milliseconds. The processors then have time for the tested servers. */
const pauseMs = 20;

/** Starts the clients. */
export function startLoad({ url, namespace, auth, clients, persistent = false, contended = false }: LoadOptions): Load {
  const created: string[] = [];
  const refused: string[] = [];
  let cuts = 0;
  let isStopping = false;
  const address = `${url}/products/?namespace=${namespace}`;
  const headers = { authorization: auth, "content-type": "application/json" };

  async function write(client: number): Promise<void> {
    for (let number = 0; !isStopping; number++) {
      const body = JSON.stringify({ title: `Lamp ${client}-${number}`, price: number, tags: [`client-${client}`] });
      const begun = performance.now();
      try {
        const reply = await fetch(address, { method: "POST", headers, body });
        const text = await reply.text();
        const mayBeRefused = contended && performance.now() - begun >= lockWaitMs;
        if (reply.status === 201) created.push(JSON.parse(text).data.id);
        else if (!mayBeRefused || JSON.parse(text).error.code !== 5001) refused.push(`${reply.status} ${text}`);
      } catch {
        cuts += 1;
        if (!persistent) return;
      }
      await Bun.sleep(pauseMs);
    }
  }

  const running = Array.from({ length: clients }, (_, client) => write(client));
  return {
    created,
    refused,
    cut: () => cuts,
    async stop() {
      isStopping = true;
      await Promise.all(running);
    },
  };
}

/** Returns the result of SQLite's integrity check, and the ids of all products. */
export async function inspectDatabase(dataDir: string): Promise<{ integrity: string; products: Set<string> }> {
  const database = await openStoreDatabase({ dataDir });
  try {
    const { rows: verdicts } = await database.execute("pragma integrity_check");
    const { rows } = await database.execute("select id from products");
    return {
      integrity: verdicts.map((row) => String(row[0])).join("\n"),
      products: new Set(rows.map((row) => String(row[0]))),
    };
  } finally {
    await database.close();
  }
}

/** The default data directory of a server. */
export function defaultDataDir(dir: string): string {
  return join(dir, "bodega-data");
}
