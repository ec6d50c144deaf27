import { isUnproven, pools } from "./fan-out.ts";

/** A service that takes longer to answer is slow. */
export const slowMs = 2000;
/** How many different devices in a row say that a service is down: any failures, or so many that had no answer in time. */
const downAfter = { failed: 5, silent: 3 };
/** How long a service that is down is left alone: doubled with each failure in a row, up to the second. */
const holdMs = { first: 5000, longest: 60_000 };
/** A service is trusted for what it took of late; each answer that does not come in time costs as much as one that does. */
const maxCredit = 3;
/**
 * The push services of the browsers that nearly everybody uses, and our own accounts at those of devices: nobody can have these
 * keep a connection open, and a server that has just been started should not need to find that out.
 */
const wellKnown =
  /^(?:ios|android|web (?:fcm\.googleapis\.com|(?:[a-z0-9-]+\.)*(?:push\.services\.mozilla|push\.apple|notify\.windows)\.com))$/;
/** Strangers name the services. */
const maxServices = 10_000;

/** What the attempts of one pool have shown of a push service. */
export interface Line {
  /** Registrations that failed since something arrived, and those of them that had no answer in time. */
  failed: Set<string>;
  silent: Set<string>;
  isDown: boolean;
  /** How often in a row it was left alone. */
  holds: number;
  /** Epoch milliseconds. */
  heldUntil: number;
  busy: number;
  /** When something there began or ended last. */
  movedAt: number;
}

interface Service {
  isWellKnown: boolean;
  credit: number;
  /** By pool. */
  lines: Line[];
}

const createLine = (): Line => ({
  failed: new Set(),
  silent: new Set(),
  isDown: false,
  holds: 0,
  heldUntil: 0,
  busy: 0,
  movedAt: 0,
});

/**
 * What the last attempts have shown of push services. Each pool learns for itself that one is down, so that what strangers
 * have registered cannot speak for devices where something has arrived; that one works is known to all at once.
 * @param now epoch milliseconds.
 */
export function createServiceHealth(now: () => number) {
  const services = new Map<string, Service>();

  function find(name: string): Service {
    let service = services.get(name);
    if (!service) {
      if (services.size >= maxServices) forget();
      service = { isWellKnown: wellKnown.test(name), credit: 0, lines: pools.map(createLine) };
      services.set(name, service);
    }
    return service;
  }

  /** What is not in use goes when there are too many; those that are trusted, last. */
  function forget(): void {
    const isIdle = ({ lines }: Service) => lines.every(({ busy, heldUntil }) => busy === 0 && heldUntil <= now());
    for (const [name, service] of services) if (service.credit === 0 && isIdle(service)) services.delete(name);
    if (services.size < maxServices / 2) return;
    for (const [name, service] of services) if (isIdle(service)) services.delete(name);
  }

  const lineOf = (name: string, pool: number): Line => find(name).lines[pool] as Line;

  return {
    lineOf,

    /** Whether the service is well known, or has taken something of late. */
    isTrusted(name: string): boolean {
      const { isWellKnown, credit } = find(name);
      return isWellKnown || credit > 0;
    },

    /**
     * Notes an answer that says the service works.
     * @param isTaken whether it took the message.
     * @returns whether it was down before.
     */
    noteAnswer(name: string, { tookMs, isTaken }: { tookMs: number; isTaken: boolean }): boolean {
      const service = find(name);
      const wasDown = service.lines.some(({ isDown }) => isDown);
      for (const line of service.lines) {
        line.failed.clear();
        line.silent.clear();
        Object.assign(line, { isDown: false, holds: 0, heldUntil: 0 });
      }
      if (tookMs >= slowMs) service.credit = Math.max(service.credit - 1, 0);
      else if (isTaken) service.credit = Math.min(service.credit + 1, maxCredit);
      return wasDown;
    },

    /**
     * Notes that a device could not be told now. What one says of its service is about that device; it takes several, or
     * one without an answer where nothing is known, to have the service left alone for a while.
     * @param failure isSilent: there was no answer in time; waitMs: how long the answer asks for, 0 if it does not.
     * @returns whether the service is down from now on.
     */
    noteFailure(
      name: string,
      pool: number,
      { registrationId, isSilent, waitMs }: { registrationId: string; isSilent: boolean; waitMs: number },
    ): boolean {
      const service = find(name);
      const line = lineOf(name, pool);
      if (line.failed.size < downAfter.failed) line.failed.add(registrationId);
      if (isSilent) {
        if (line.silent.size < downAfter.silent) line.silent.add(registrationId);
        service.credit = Math.max(service.credit - 1, 0);
      }
      const isJunk = isSilent && !service.isWellKnown && service.credit === 0 && isUnproven(pool);
      const isMany = line.failed.size >= downAfter.failed || line.silent.size >= downAfter.silent;
      if (!isMany && !isJunk) return false;
      const isFirst = !line.isDown;
      line.isDown = true;
      // What failed at the same time counts once.
      if (line.heldUntil <= now()) {
        line.heldUntil = now() + Math.min(holdMs.first * 2 ** line.holds, holdMs.longest);
        line.holds = Math.min(line.holds + 1, 10);
      }
      line.heldUntil = Math.max(line.heldUntil, now() + Math.min(waitMs, holdMs.longest));
      return isFirst;
    },
  };
}
