import type { InStatement } from "@libsql/core/api";
import { attempt } from "../../values/attempt.ts";
import { isBusy } from "../db-errors.ts";
import type { Writer } from "../group-commit/writer.ts";
import type { Connection } from "./connection.ts";
import type { LockFairness } from "./lock-fairness.ts";

/**
 * Creates the writer of a local file. Its statements run synchronously.
 * @param on requireFile: throws if the file must not be written any more. onCommit: runs before writes are answered.
 */
export function createFileWriter(
  connection: Connection,
  fairness: LockFairness,
  on: Record<"requireFile" | "onCommit", () => void>,
): Writer {
  const runAll = (stmts: readonly InStatement[]) => stmts.map((stmt) => connection.execute(stmt));
  const rollBack = () => {
    if (connection.inTransaction) connection.run("ROLLBACK");
  };
  return {
    maxTogether: 1,
    lockMs: 0,
    get inTransaction() {
      return connection.inTransaction;
    },
    begin() {
      try {
        rollBack();
        connection.run("BEGIN IMMEDIATE");
        return true;
      } catch (error) {
        if (isBusy(error)) return false;
        throw error;
      }
    },
    waitForLock: () => fairness.waitForLock(),
    yieldLock: () => fairness.yieldLock(),
    beginUnit: () => void connection.run("SAVEPOINT bodega_unit"),
    run: runAll,
    endUnit: () => void connection.run("RELEASE bodega_unit"),
    undoUnit() {
      connection.run("ROLLBACK TO bodega_unit");
      connection.run("RELEASE bodega_unit");
    },
    commit(first, unless) {
      const results = runAll(first);
      const found = runAll(unless);
      if (found.some(({ rows }) => rows.length > 0)) return { results, found };
      on.requireFile();
      connection.run("COMMIT");
      on.onCommit();
      return { results };
    },
    // If ROLLBACK fails, it is repeated before the next BEGIN. Nothing of the group is committed.
    abandon: () => void attempt(rollBack),
  };
}
