import type {
  Client,
  InArgs,
  InStatement,
  Replicated,
  ResultSet,
  Row,
  Transaction,
  TransactionMode,
} from "@libsql/core/api";
import { argsOf, sqlOf } from "../bind-args.ts";
import type { LocalReader } from "../local/local-reader.ts";
import { shapeOf } from "../scan-sql.ts";
import type { ReplicaSync } from "./replica-sync.ts";
import type { ServerClient } from "./server-client.ts";

type Statement = InStatement | [string, InArgs?];

/** The `Client` of an embedded replica: reads from the copy, writes at the primary and in the copy once answered. */
export class ReplicaClient implements Client {
  readonly protocol = "file";
  readonly primary: ServerClient;
  readonly #reader: LocalReader;
  readonly #sync: ReplicaSync;
  readonly #writes = new Set<Promise<unknown>>();
  closed = false;

  constructor(primary: ServerClient, reader: LocalReader, sync: ReplicaSync) {
    this.primary = primary;
    this.#reader = reader;
    this.#sync = sync;
  }

  execute(stmt: InStatement): Promise<ResultSet>;
  execute(sql: string, args?: InArgs): Promise<ResultSet>;
  async execute(stmt: InStatement, args?: InArgs): Promise<ResultSet> {
    const sql = sqlOf(stmt);
    const values = args ?? argsOf(stmt);
    if (!shapeOf(sql).reads) return this.afterWrite(this.primary.execute(sql, values));
    return this.#sync.isBehind ? this.primary.execute(sql, values) : this.#reader.run(sql, values);
  }

  async first(stmt: InStatement): Promise<Row | undefined> {
    const sql = sqlOf(stmt);
    if (!shapeOf(sql).reads || this.#sync.isBehind) return (await this.execute(stmt)).rows[0];
    return this.#reader.first(sql, argsOf(stmt));
  }

  async batch(stmts: Statement[], mode: TransactionMode = "write"): Promise<ResultSet[]> {
    if (mode !== "read") return this.afterWrite(this.primary.batch(stmts, mode));
    return this.#sync.isBehind ? this.primary.batch(stmts, mode) : this.#reader.batch(stmts);
  }

  migrate(stmts: InStatement[]): Promise<ResultSet[]> {
    return this.afterWrite(this.primary.migrate(stmts));
  }

  executeMultiple(sql: string): Promise<void> {
    return this.afterWrite(this.primary.executeMultiple(sql));
  }

  async transaction(mode: TransactionMode = "write"): Promise<Transaction> {
    if (mode === "read" && !this.#sync.isBehind) return this.#reader.begin();
    const transaction = await this.primary.transaction(mode);
    const commit = transaction.commit.bind(transaction);
    transaction.commit = () => this.afterWrite(commit());
    return transaction;
  }

  async sync(): Promise<Replicated> {
    await this.#sync.afterWrite();
    return undefined;
  }

  /** Waits for the write, then until the copy holds it. */
  afterWrite<T>(write: Promise<T>): Promise<T> {
    const answered = write.then(async (value) => {
      await this.#sync.afterWrite();
      return value;
    });
    this.#writes.add(answered);
    const forget = () => this.#writes.delete(answered);
    answered.then(forget, forget);
    return answered;
  }

  /** Resolves when all writes in flight are answered. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#writes);
    await this.primary.drain();
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.#reader.close();
    this.primary.close();
  }

  reconnect(): void {
    this.primary.reconnect();
  }
}
