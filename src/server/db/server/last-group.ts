import { withTimeout } from "../../concurrency/with-timeout.ts";
import { isBusy } from "../db-errors.ts";
import { isResult, type ServerConnection } from "./connection.ts";
import { begin, control, readGroup } from "./statements.ts";

const maxPauseMs = 5;
export const pause = () => Bun.sleep(1 + Math.random() * (maxPauseMs - 1));

export const leftUntil = (deadline: number) => Math.max(1, deadline - performance.now());

/**
 * Finds out whether a COMMIT without an answer took effect: returns the number of the last group that the writer
 * committed, 0 for none, and undefined if the lock is not free in time. Once another transaction has begun, the old one
 * has ended, so the number is final.
 */
export async function readLastGroup(connection: ServerConnection, writer: string, timeoutMs: number) {
  const deadline = performance.now() + timeoutMs;
  const steps = [begin, { sql: readGroup, args: [writer] }, control("ROLLBACK")];
  connection.close();
  while (performance.now() < deadline) {
    const asking = connection
      .openStream(undefined)
      .then((stream) => connection.runInOrder(stream, steps, leftUntil(deadline)));
    const outcomes = await withTimeout(asking, leftUntil(deadline)).catch(() => [undefined]);
    const [, last, ended] = outcomes;
    if (isResult(last) && isResult(ended)) return (last.rows[0]?.last_group as number | undefined) ?? 0;
    if (!isBusy(outcomes[0])) connection.close();
    await pause();
  }
  return undefined;
}
