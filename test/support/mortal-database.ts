import type { Database, Executor, Session } from "../../src/server/db/session.ts";

/** A database whose process can be killed at any call. Then every call fails, and open transactions are lost. */
export function createMortal(db: Database) {
  let left = Number.POSITIVE_INFINITY;
  const killed = () => new Error("This process was killed.");
  /** Counts down to the call at which the process ends. It ends before or after this call, depending on the number. */
  const step = () => {
    left -= 1;
    if (left < 0) throw killed();
  };
  const around = async <T>(call: () => Promise<T>): Promise<T> => {
    step();
    const value = await call();
    step();
    return value;
  };
  const mortal = <E extends Executor>(inner: E): E =>
    new Proxy(inner, {
      get(target, name) {
        const value = Reflect.get(target, name, target) as unknown;
        if (typeof value !== "function") return value;
        const call = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
        if (name === "execute" || name === "batch" || name === "first")
          return (...args: unknown[]) => around(() => call(...args));
        if (name !== "transaction") return call;
        return (work: (tx: Session) => Promise<unknown>) => around(() => call((tx: Session) => work(mortal(tx))));
      },
    });
  return {
    db: mortal(db),
    /** Kills the process at the call with this number, counted from 1. */
    killAt(call: number) {
      left = call;
    },
    get isDead() {
      return left < 0;
    },
    revive() {
      left = Number.POSITIVE_INFINITY;
    },
  };
}
export type Mortal = ReturnType<typeof createMortal>;
