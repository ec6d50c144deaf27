import { isBusy } from "../db-errors.ts";
import { isResult, type ServerConnection } from "./connection.ts";
import { begin, control, readGroup } from "./statements.ts";

/** How long a waiting writer pauses at most, in milliseconds. */
const maxPauseMs = 5;
export const pause = () => Bun.sleep(1 + Math.random() * (maxPauseMs - 1));

export const leftUntil = (deadline: number) => Math.max(1, deadline - performance.now());

/**
 * The number of the last group that a writer has committed, after a COMMIT without an answer: once another transaction has
 * begun, the old one has ended, and its row tells how. It is 0 where the writer has committed none, and undefined where
 * the lock is not free in time.
 */
export async function readLastGroup(connection: ServerConnection, writer: string, timeoutMs: number) {
  const deadline = performance.now() + timeoutMs;
  const steps = [begin, { sql: readGroup, args: [writer] }, control("ROLLBACK")];
  connection.close();
  while (performance.now() < deadline) {
    const outcomes = await connection
      .openStream(undefined)
      .then((stream) => connection.runInOrder(stream, steps, leftUntil(deadline)))
      .catch(() => [undefined]);
    const [, last, ended] = outcomes;
    if (isResult(last) && isResult(ended)) return (last.rows[0]?.last_group as number | undefined) ?? 0;
    if (!isBusy(outcomes[0])) connection.close();
    await pause();
  }
  return undefined;
}
