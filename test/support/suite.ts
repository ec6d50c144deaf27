import { afterAll, beforeAll, describe, test } from "bun:test";
import { startTestApp, type TestApp } from "./app.ts";
import { canTest, type DatabaseKind, databaseKinds, openTestDatabase, type TestDatabase } from "./backend.ts";
import { createShop, type Shop } from "./factories.ts";

/** The application, database and helpers that the tests of a file share for one kind of database. */
export interface Suite {
  kind: DatabaseKind;
  readonly app: TestApp;
  readonly database: TestDatabase;
  /** Creates a store with a key and a client. */
  shop: (options?: Parameters<typeof createShop>[1]) => Promise<Shop>;
  /** Declares a test, like `test`. If the function has a parameter, it gets a new store. */
  test: ShopTest;
  /** Declares a test only on a file, for results that do not depend on the kind of database. */
  onFile: ShopTest;
}

type ShopTest = ((name: string, run: (shop: Shop) => unknown, timeout?: number) => void) & Pick<typeof test, "each">;

const noTest: ShopTest = Object.assign(() => {}, { each: () => () => {} }) as never;

type SuiteOptions = Omit<Parameters<typeof startTestApp>[0], "db" | "clock">;

/**
 * Runs the same tests on a file and on a libSQL server. Tests of `onFile` run only on the file: they test rules, which
 * both databases compute with the same statements. `isolation/walk.test.ts` runs each route's statements on a server.
 */
export function onEachDatabase(define: (suite: Suite) => void, options: SuiteOptions = {}): void {
  for (const kind of databaseKinds) onDatabase(kind, define, options);
}

/** Runs tests on one kind of database. */
export function onDatabase(kind: DatabaseKind, define: (suite: Suite) => void, options: SuiteOptions = {}): void {
  describe.skipIf(!canTest(kind))(`on ${kind}`, () => {
    let database: TestDatabase;
    let app: TestApp;
    beforeAll(async () => {
      database = await openTestDatabase(kind);
      app = startTestApp({ ...options, db: database.db });
    }, 30_000);
    afterAll(async () => {
      await app.stop();
      await database.close();
    });
    const shop: Suite["shop"] = (shopOptions) => createShop(app, shopOptions);
    const testInShop: ShopTest = Object.assign(
      (...[name, run, timeout]: Parameters<ShopTest>) =>
        test(name, async () => void (await (run.length > 0 ? run(await shop()) : (run as () => unknown)())), timeout),
      { each: test.each.bind(test) },
    );
    define({
      kind,
      test: testInShop,
      onFile: kind === "file" ? testInShop : noTest,
      get app() {
        return app;
      },
      get database() {
        return database;
      },
      shop,
    });
  });
}
