import { type AppDeps, createApp } from "../../src/server/api/app.ts";
import type { PaymentOptions, SystemCtx } from "../../src/server/context.ts";
import type { Database } from "../../src/server/db/session.ts";
import { formatRequest, type RequestLogEntry } from "../../src/server/logging/request-log.ts";
import { WriteLimiter } from "../../src/server/modules/rate-limits/public-writes.ts";
import { ViewBuffer } from "../../src/server/modules/views/view-buffer.ts";
import { Meter } from "../../src/server/monitoring/metrics/meter.ts";
import { createVault } from "../../src/server/security/vault.ts";
import { type ApiDescription, readDescription } from "./api-description.ts";
import { createClock, type FakeClock } from "./clock.ts";
import { secretForm } from "./invariants.ts";

/** The header with which a test sets the socket address of its request. */
export const peerHeader = "x-test-peer";

/** A real server on a free port, with the application under test. */
export interface TestApp {
  url: string;
  port: number;
  db: Database;
  clock: FakeClock;
  /** The log entries so far. */
  entries: RequestLogEntry[];
  /** The lines of both log formats so far. */
  lines: string[];
  /** The application's state in memory. `memory.views.flush()` writes buffered views to the database. */
  memory: ReturnType<typeof createMemory>;
  /** The payment options of the application, which tests may change. */
  payments: PaymentOptions;
  /** The context for services that do not belong to one tenant. */
  system: SystemCtx;
  /** Returns the API description. It is read once for all applications with the same routes. */
  description: () => Promise<ApiDescription>;
  /** Stops the server. Fails if a secret was logged. The database stays open. */
  stop: () => Promise<void>;
}

/** The secret key of all applications under test. */
export const vault = createVault(() => "a secret that only tests know, 32 characters or more");

type TestAppOptions = Partial<Omit<AppDeps, "db" | "now" | "log" | "peerOf">> & {
  db: Database;
  clock?: FakeClock;
};

/** API descriptions by routes. The key undefined means the routes of the product. */
const descriptions = new Map<AppDeps["routes"], Promise<ApiDescription>>();

const createMemory = (db: Database, key: typeof vault, now: () => number) => ({
  views: new ViewBuffer({ db, notice: () => {} }),
  writes: new WriteLimiter({ db, vault: key, now, notice: () => {} }),
});

/** Starts the application with a fake clock. The header `x-test-peer` sets the socket address of a request. */
export function startTestApp({ db, clock = createClock(), ...deps }: TestAppOptions): TestApp {
  const entries: RequestLogEntry[] = [];
  const lines: string[] = [];
  const memory = createMemory(db, deps.vault ?? vault, clock.now);
  const common = {
    trustedProxies: [],
    version: "0.0.0-test",
    hasDocs: true,
    logLevel: "info" as const,
    isEncrypted: false,
    isDraining: () => false,
    freeBytes: () => null,
    push: { allowPrivate: false },
    meter: new Meter(),
    vault,
    memory,
    payments: {} as PaymentOptions,
    ...deps,
    db,
    now: clock.now,
  };
  const app = createApp({
    ...common,
    log: (entry) => {
      entries.push(entry);
      lines.push(formatRequest(entry, "text"), formatRequest(entry, "json"));
    },
    peerOf: (request) => request.headers.get(peerHeader) ?? "127.0.0.1",
  });
  // Listens like the product, but on a free port.
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 30,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    fetch: app.fetch,
  });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    port: server.port as number,
    db,
    clock,
    entries,
    lines,
    system: { db, actor: { kind: "terminal" }, vault, requestId: "test", now: clock.now },
    description: () => {
      // Another application handles the request, so that it is not in the test's log.
      const read = () =>
        readDescription(createApp({ ...common, meter: new Meter(), log: () => {}, peerOf: () => null }));
      const description = descriptions.get(deps.routes) ?? read();
      descriptions.set(deps.routes, description);
      return description;
    },
    memory,
    payments: common.payments,
    async stop() {
      await server.stop(true);
      await Promise.all([memory.views.stop(), memory.writes.stop()]);
      const leak = lines.find((line) => secretForm.test(line));
      if (leak !== undefined) throw new Error(`A secret was logged: ${leak}`);
    },
  };
}
