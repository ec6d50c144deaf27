import { type Envelope, exchange, type RetryPolicy } from "./exchange.ts";
import type { Operation, SendOptions } from "./operations.ts";
import { createSessionKeeper, hasEnded, memoryStorage, type Session, type TokenStorage } from "./session.ts";

export interface ClientOptions extends Partial<RetryPolicy> {
  /** Address of the server, such as `https://api.example.com`. */
  url: string;
  /** Namespace of the store. */
  namespace: string;
  /** An app key; in a page, a storefront key. Without a key, only public calls work until a user signs in. */
  app?: { id: string; secret: string } | undefined;
  /** Language of texts and mail. A function is called for each request. Default: the store's. */
  lang?: string | (() => string | undefined);
  /** Stores the tokens of the user and of the visitor. `localStorage` keeps them over reloads. Default: memory. */
  storage?: TokenStorage;
  /**
   * Called with the new session after a sign-in or refresh, and with null after a sign-out or the end of the session.
   * Also called for changes in other tabs. Not called after a reload: `auth.session()` returns the session then.
   */
  onSession?: (session: Session | null) => void;
}

/** The options of a call, without the types of its operation. */
export interface LooseOptions extends SendOptions {
  path?: Record<string, string>;
  query?: object;
  body?: unknown;
}

type Query = Record<string, unknown>;

/** Paths of POST requests with secrets. The server stores no replies to them, so a retry would run them again. */
const unkept = /^\/(auth|users\/(me|sign-up|verify))\//;
const catalog = /^\/(products|categories|store)\//;
/** Paths of operations that need no signed-in user, or ignore the user. */
const userless =
  /^\/(auth\/login|auth\/code|auth\/password|users\/sign-up|users\/verify|orders\/access|orders\/withdrawals)\//;
const forVisitors = /^\/(likes|bookmarks|views|auth\/login|users\/sign-up)\//;

function headersOf(
  method: string,
  { body, idempotencyKey, ifVersion, orderToken }: LooseOptions,
): Record<string, string> {
  return {
    ...(body !== undefined && { "Content-Type": body instanceof Blob ? body.type : "application/json" }),
    ...(ifVersion !== undefined && { "If-Match": `"${ifVersion}"` }),
    ...(orderToken !== undefined && { "X-Order-Token": orderToken }),
    ...(method === "POST" && { "Idempotency-Key": idempotencyKey ?? randomKey() }),
  };
}

/** Returns functions that send requests with the client's credentials, and repeat them after temporary errors. */
export function createSender(options: ClientOptions = { url: "", namespace: "" }) {
  const { app, namespace, storage = memoryStorage(), onSession = () => {} } = options;
  const base = readBase(options);
  const name = `bodega ${new URL(base).host} ${namespace}`;
  const policy: RetryPolicy = {
    // Browsers refuse `fetch` as a method of another object, so it is called in a function.
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    retries: options.retries ?? 3,
    timeoutMs: options.timeoutMs ?? 30_000,
  };
  /** A page sends the key of a read in the query, which needs no preflight. Other programs put no key into URLs. */
  const keyQuery = "document" in globalThis && app ? { app_id: app.id, app_secret: app.secret } : {};
  const keyHeader = app && `Bearer ${app.id}:${app.secret}`;
  const readHeader = "app_id" in keyQuery ? undefined : keyHeader;
  const sessions = createSessionKeeper({
    storage,
    name: `${name} session`,
    onChange: onSession,
    refresh: async (session) => (await sendAs(session, "POST", "/auth/refresh/", {})).data as Session,
  });
  /** The latest call that may create a visitor. The next call that may create one waits until the latest has ended. */
  let visitorMade: Promise<unknown> = Promise.resolve();

  const readLanguage = () => (typeof options.lang === "function" ? options.lang() : options.lang);

  function sendAs(session: Session | null, method: string, path: string, given: LooseOptions): Promise<Envelope> {
    const { query, body, signal } = given;
    const isRead = method === "GET";
    const search = toSearch({ namespace, lang: readLanguage(), ...(isRead && !session && keyQuery), ...query });
    const caller = session ? `Bearer ${session.user_id}:${session.token}` : isRead ? readHeader : keyHeader;
    const headers = { ...given.headers, ...headersOf(method, given), ...(caller && { Authorization: caller }) };
    const init: RequestInit = { method, headers, signal: signal ?? null };
    if (body !== undefined) init.body = body instanceof Blob ? body : JSON.stringify(body);
    const isRepeatable = given.ifVersion === undefined && !(method === "POST" && unkept.test(path));
    return exchange({ url: `${base}${path}?${search}`, init, isRepeatable }, policy);
  }

  async function sendAsUser(method: string, path: string, given: LooseOptions): Promise<Envelope> {
    const isOfKey = app && (given.orderToken !== undefined || (method === "GET" && catalog.test(path)));
    const { as = isOfKey ? "key" : "user" } = given;
    const isUserless = method === "POST" && userless.test(path);
    const session = as === "user" && !isUserless ? await sessions.current() : null;
    try {
      return await sendAs(session, method, path, given);
    } catch (error) {
      // Another call or page may have refreshed the token meanwhile. If so, the call is repeated with the new token.
      const next = session && hasEnded(error) && (await sessions.end(session));
      if (!next) throw error;
      return sendAs(next, method, path, given);
    }
  }

  /** Sends a call with the visitor's token. If the reply contains a new visitor's token, stores it. */
  async function sendAsVisitor(method: string, path: string, given: LooseOptions): Promise<Envelope> {
    const visitor = await storage.getItem(`${name} visitor`);
    const place = method === "POST" ? "body" : "query";
    const reply = await sendAsUser(method, path, {
      ...given,
      [place]: { ...(visitor && { visitor }), ...(given[place] as Query) },
    });
    const made = (reply.data as { visitor?: string }).visitor;
    if (made) await storage.setItem(`${name} visitor`, made);
    return reply;
  }

  /** Sends an operation with the user's token, and operations for visitors also with the visitor's token. */
  async function send(operation: Operation, given: LooseOptions = {}): Promise<Envelope> {
    // `fetch` would send `patch` in lower case, and servers would close the connection, so methods become upper case.
    const [method = "", template = ""] = operation.replace(/^\w+/, (verb) => verb.toUpperCase()).split(" ");
    const path = template.replace(/\{(\w+)\}/g, (_, id: string) => pathPart(id, given.path?.[id]));
    if (!forVisitors.test(path)) return sendAsUser(method, path, given);
    if (method !== "POST" || (await storage.getItem(`${name} visitor`))) return sendAsVisitor(method, path, given);
    // A page's first calls run one after another, because calls at the same time would each create a visitor.
    const sent = visitorMade.then(() => sendAsVisitor(method, path, given));
    visitorMade = sent.catch(() => {});
    return sent;
  }

  return { send, sessions, base };
}

function readBase({ url, namespace }: ClientOptions): string {
  const base = String(url ?? "").replace(/\/+$/, "");
  if (!/^https?:\/\//.test(base)) throw new TypeError(`url must begin with http:// or https://, not "${base}".`);
  if (!namespace) throw new TypeError("namespace is missing. Set it to the name of the store.");
  return base;
}

function pathPart(name: string, id: string | undefined): string {
  if (!id || id === "." || id === "..") throw new TypeError(`${name} must be an id.`);
  return encodeURIComponent(id);
}

/** Returns a query, in which objects become `name[key]=value`, and lists repeat the name. */
function toSearch(query: Query): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const one of value) search.append(name, String(one));
    else if (typeof value === "object" && value !== null)
      for (const [key, one] of Object.entries(value)) search.append(`${name}[${key}]`, String(one));
    else if (value !== undefined && value !== null) search.append(name, String(value));
  }
  return search;
}

function randomKey(): string {
  // `crypto.randomUUID` is missing in pages without TLS, so the id is made of random bytes.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
