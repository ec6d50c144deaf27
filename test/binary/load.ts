import { join } from "node:path";
import { openDatabase } from "../../src/server/db/open.ts";

/** Clients that create products as fast as they are answered. */
export interface Load {
  /** Ids of the products that were answered 201, in the order of the answers. */
  created: string[];
  /** Every answer that was something else. */
  refused: string[];
  /** How many requests ended without an answer, because the connection did. */
  cut: () => number;
  /** Lets each client finish its request. */
  stop: () => Promise<void>;
}

interface LoadOptions {
  url: string;
  namespace: string;
  auth: string;
  clients: number;
  /** Whether a client goes on after a connection that was cut; else it ends. */
  persistent?: boolean;
}

/** Starts the clients. */
export function startLoad({ url, namespace, auth, clients, persistent = false }: LoadOptions): Load {
  const created: string[] = [];
  const refused: string[] = [];
  let cuts = 0;
  let isStopping = false;
  const address = `${url}/products/?namespace=${namespace}`;
  const headers = { authorization: auth, "content-type": "application/json" };

  async function write(client: number): Promise<void> {
    for (let number = 0; !isStopping; number++) {
      const body = JSON.stringify({ title: `Lamp ${client}-${number}`, price: number, tags: [`client-${client}`] });
      try {
        const reply = await fetch(address, { method: "POST", headers, body });
        const text = await reply.text();
        if (reply.status === 201) created.push(JSON.parse(text).data.id);
        else refused.push(`${reply.status} ${text}`);
      } catch {
        cuts += 1;
        if (!persistent) return;
        // A server that is away answers nothing at once; without a pause this would be a busy loop.
        await Bun.sleep(1);
      }
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

/** What SQLite says of the database's soundness, `ok` when all is well, and the ids of all products in it. */
export async function inspectDatabase(dataDir: string): Promise<{ integrity: string; products: Set<string> }> {
  const database = await openDatabase({ dataDir });
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

/** Where a server keeps its data unless it is told otherwise. */
export function defaultDataDir(dir: string): string {
  return join(dir, "bodega-data");
}
