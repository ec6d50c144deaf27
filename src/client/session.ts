import { BodegaError } from "./error.ts";

/** Where the client stores the user's and the visitor's token: `localStorage`, or an object with these methods. */
export interface TokenStorage {
  getItem(name: string): string | null | undefined | Promise<string | null | undefined>;
  setItem(name: string, value: string): unknown;
  removeItem(name: string): unknown;
}

/** A signed-in user. */
export interface Session {
  user_id: string;
  token: string;
  expires_at: string;
}

export interface KeptSession extends Session {
  /** The time of the next refresh, in epoch milliseconds. */
  renew_at: number;
}

/** Returns a storage that lasts as long as the client. */
export function memoryStorage(): TokenStorage {
  const items = new Map<string, string>();
  return {
    getItem: (name) => items.get(name),
    setItem: (name, value) => items.set(name, value),
    removeItem: (name) => items.delete(name),
  };
}

interface Page {
  addEventListener(type: "storage", listen: (event: { storageArea: unknown; key: string | null }) => void): void;
}

interface Locks {
  request<T>(name: string, run: () => Promise<T>): Promise<T>;
}

/** The share of a token's lifetime after which it is refreshed. */
const renewAfter = 0.8;
/** The pause after a failed refresh, during which the old token is used. */
const pauseMs = 60_000;

/** Whether a call failed because its token is unknown, expired or revoked. */
export function hasEnded(error: unknown): boolean {
  return error instanceof BodegaError && (error.code === 5205 || error.code === 5207 || error.code === 5214);
}

interface Options {
  storage: TokenStorage;
  /** The key in the storage. */
  name: string;
  /** Exchanges a token for a new one. */
  refresh: (session: Session) => Promise<Session>;
  onChange: (session: Session | null) => void;
}

/** Keeps the session in the storage, and refreshes its token before it expires, once for all concurrent calls. */
export function createSessionKeeper({ storage, name, refresh, onChange }: Options) {
  let refreshing: Promise<Session | null> | undefined;
  let pausedUntil = 0;
  /** The token that was last read or saved; null if nobody is signed in, undefined before the first read. */
  let known: string | null | undefined;

  if ("document" in globalThis)
    (globalThis as unknown as Page).addEventListener("storage", ({ storageArea, key }) => {
      if (storageArea !== storage || (key !== null && key !== name)) return;
      if (known === undefined) known = "";
      void read();
    });

  /** Reads the session from the storage, because another page or client may have changed it. */
  async function read(): Promise<KeptSession | null> {
    const text = await storage.getItem(name);
    const kept = text ? JSON.parse(text) : null;
    tell(kept);
    return kept;
  }

  function tell(session: Session | null) {
    const token = session?.token ?? null;
    const isNews = known !== undefined && known !== token;
    known = token;
    if (isNews) onChange(session);
  }

  async function save({ user_id, token, expires_at }: Session): Promise<Session> {
    const now = Date.now();
    const renew_at = now + (Date.parse(expires_at) - now) * renewAfter;
    const session = { user_id, token, expires_at };
    await storage.setItem(name, JSON.stringify({ ...session, renew_at } satisfies KeptSession));
    known ??= null;
    tell(session);
    return session;
  }

  /** Removes a session that has ended. If another call or page has stored a new one, returns that; otherwise null. */
  async function end(ended: Session): Promise<Session | null> {
    const kept = await read();
    if (kept && kept.token !== ended.token) return kept;
    if (kept) {
      await storage.removeItem(name);
      tell(null);
    }
    return null;
  }

  async function renew(session: Session): Promise<Session | null> {
    const kept = await read();
    if (!kept || kept.token !== session.token) return kept;
    try {
      return await save(await refresh(kept));
    } catch (error) {
      const other = hasEnded(error) && (await end(kept));
      if (!other) throw error;
      return other;
    }
  }

  /** Refreshes the token, unless another call or page has done so meanwhile. */
  function renewOnce(session: Session): Promise<Session | null> {
    const { locks } = (globalThis.navigator ?? {}) as { locks?: Locks };
    refreshing ??= (locks ? locks.request(name, () => renew(session)) : renew(session)).finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  }

  /** Returns the session, with a refreshed token if the old one expires soon; null if nobody is signed in. */
  async function current(): Promise<Session | null> {
    const kept = await read();
    const now = Date.now();
    if (!kept || now < kept.renew_at || now < pausedUntil) return kept;
    return renewOnce(kept).catch(async (error: unknown) => {
      if (Date.parse(kept.expires_at) <= now || !(await read())) throw error;
      pausedUntil = now + pauseMs;
      return kept;
    });
  }

  return { read, save, end, current, renewOnce };
}
