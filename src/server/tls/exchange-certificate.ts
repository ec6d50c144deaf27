import type { Certificate } from "./certificate.ts";

/** Something that is done to the sockets of a port; where there are workers, by each of them. */
export type SocketStep =
  /** New connections go to the `count` sockets that began to listen as the `first`th and next, counted from 0. */
  | { do: "steer"; first: number; count: number }
  /** Another socket begins to listen with this pair; the one before stays for who is connected to it. */
  | { do: "begin"; cert: string; key: string }
  /** The one before is closed. */
  | { do: "letGo" };

/** All sockets that listen on the port. */
export interface Sockets {
  /** How many there are while no certificate is being exchanged. */
  count(): number;
  /** Settles with whether all have taken the step; false where the system does not know it. Throws when a socket cannot begin. */
  step(step: SocketStep): Promise<boolean>;
}

/** Whoever was connecting while another socket took over has come through by then, from the other end of the world too. */
const handoverMs = 1000;

/** How the certificate of a port is exchanged. */
export interface CertificateExchange {
  /** What is presented to who connects now; to be given to a worker that starts. */
  presented(): Certificate;
  /** Presents another to who connects from now on. Throws when it cannot be used. */
  present(next: Certificate): Promise<void>;
  /** Says that sockets come or go otherwise, so that their places are no longer known: the ones before leave soon. */
  disturb(): void;
  stop(): void;
}

/**
 * Exchanges certificates with the sockets that present them, all sockets in step: they are told apart by their place among
 * those that listen on the port, so that there are never more than two generations.
 * @param lingerMs how long sockets stay for those who are connected to them, unless the next exchange comes sooner.
 */
export function exchangeCertificates(sockets: Sockets, first: Certificate, lingerMs: number): CertificateExchange {
  let presented = first;
  let leaving: { count: number; timer: ReturnType<typeof setTimeout> } | undefined;
  let isStopped = false;
  let working = Promise.resolve();

  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = working.then(work);
    working = done.catch(() => {});
    return done;
  }

  const leaveIn = (ms: number) => setTimeout(() => void inTurn(letGo).catch(() => {}), ms);

  /** As sockets leave, places change, but for the first of those that stay: it alone gets what comes meanwhile. */
  async function letGo(): Promise<void> {
    if (!leaving || isStopped) return;
    const { count, timer } = leaving;
    leaving = undefined;
    clearTimeout(timer);
    await sockets.step({ do: "steer", first: count, count: 1 });
    await Bun.sleep(handoverMs);
    if (!isStopped) await sockets.step({ do: "letGo" });
  }

  return {
    presented: () => presented,
    present: (next) =>
      inTurn(async () => {
        await letGo();
        if (isStopped) return;
        const count = sockets.count();
        const isSteered = await sockets.step({ do: "steer", first: count, count });
        // Where connections cannot be steered, or places are not sure, both generations get some: the one before leaves soon.
        leaving = { count, timer: leaveIn(isSteered ? lingerMs : 0) };
        presented = next;
        await sockets.step({ do: "begin", cert: next.cert, key: next.key });
      }),
    disturb() {
      if (!leaving) return;
      clearTimeout(leaving.timer);
      leaving.timer = leaveIn(handoverMs);
    },
    stop() {
      isStopped = true;
      clearTimeout(leaving?.timer);
    },
  };
}
