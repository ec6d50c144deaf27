import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";

/** Clients that create one product after another. */
export interface Load {
  /** Ids of the products that were answered 201, in the order of the answers. */
  created: string[];
  /** Every reply other than 201 and those that `contended` expects. */
  refused: string[];
  /** The number of requests whose connection ended without a reply. */
  cut: () => number;
  /** Lets each client finish its request. */
  stop: () => Promise<void>;
}

interface LoadOptions {
  url: string;
  namespace: string;
  auth: string;
  clients: number;
  /** Whether a client continues after its connection was cut; otherwise it ends. */
  persistent?: boolean;
  /** Whether 5001 is expected for a write that other processes kept from the lock for as long as it waits. */
  contended?: boolean;
}

/** How long a write waits for the lock of another process. */
const lockWaitMs = 5000;

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
        // Connections to a stopped server fail at once; without a pause this would be a busy loop.
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

/** The result of SQLite's integrity check, and the ids of all products. */
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
