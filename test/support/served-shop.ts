import { afterAll } from "bun:test";
import { join } from "node:path";
import { Secret, TOTP } from "otpauth";
import { type ApiDescription, readDescription } from "./api-description.ts";
import { type Binary, type IssuedKey, openShop, useBinaries } from "./binary.ts";
import { type ApiReply, type Call, createClient, newAddress } from "./client.ts";
import { type Mailbox, openMailbox } from "./mailbox.ts";
import { createProcessClock, type ProcessClock } from "./process-clock.ts";
import type { Serving } from "./serving.ts";

/** A password that satisfies every rule. */
export const goodPassword = "Vermilion-Kettle-4871";

/** Matches a reset code in the text of a mail. */
const codeForm = /(?<!\d)\d{6}(?!\d)/;

/** A user of the store. */
export interface ServedUser {
  id: string;
  email: string;
  password: string;
  /** The body of the user's login. */
  login: { email: string; password: string };
}

/** The `data` of a login's reply. */
export interface Session {
  user_id: string;
  token: string;
  expires_at: string;
  store: Record<string, unknown>;
}

/** The authenticator of a user with two-factor sign-in. */
export interface Authenticator {
  recoveryCodes: string[];
  /** Returns the code of the current half minute, or the code after `later` half minutes. */
  code: (later?: number) => string;
  /** Returns a code that is wrong now, and in the half minutes before and after. */
  wrongCode: () => string;
}

/** A store with its own server: the executable, as users run it. */
export interface ServedShop {
  binary: Binary;
  server: Serving;
  dataDir: string;
  clock: ProcessClock;
  mailbox: Mailbox;
  namespace: string;
  key: IssuedKey;
  /** The `Authorization` header of the key. */
  auth: string;
  description: () => Promise<ApiDescription>;
  /** Calls the API with namespace and key, by default from a new address each time. */
  call: Call;
  /** Calls the API with the namespace only. */
  callAnonymously: Call;
  /** Returns a client of another store on the same server. */
  clientOf: (other: { namespace: string; auth?: string }) => Call;
  /** Stops the server, and starts another one with the same data. */
  restart: (options: Pick<ServedShopOptions, "workers" | "flags">) => Promise<ServedShop>;
  createUser: (fields?: Record<string, unknown>) => Promise<ServedUser>;
  /** Logs in. Fails if the login is refused. */
  signIn: (user: ServedUser, more?: Record<string, unknown>) => Promise<Session>;
  /** Returns the current code of a secret, or the code after `later` half minutes. */
  totp: (secret: string, later?: number) => string;
  /** Enables two-factor sign-in and signs the user in. This uses the current code. */
  enrol: (user: ServedUser) => Promise<Authenticator>;
  /** Returns the code of a read with this token; undefined for a success. */
  codeOf: (session: Session) => Promise<number | undefined>;
  /** Requests a reset code, and reads it in the mail. */
  requestCode: (user: { email: string }) => Promise<string>;
}

export interface ServedShopOptions {
  workers?: number;
  /** False for the real clock. */
  fakeClock?: boolean;
  flags?: string[];
}

const realClock: ProcessClock = {
  now: Date.now,
  advance: () => {
    throw new Error("This store goes by the machine's time.");
  },
  env: {},
};

/** Call this at the top of a test file. Its servers stop when the file ends. */
export function useServedShops(): { startServedShop: (options?: ServedShopOptions) => Promise<ServedShop> } {
  const { installBinary } = useBinaries();
  const mailboxes: Mailbox[] = [];
  afterAll(async () => {
    for (const mailbox of mailboxes) await mailbox.close();
  });

  async function startServedShop(options: ServedShopOptions = {}): Promise<ServedShop> {
    const binary = installBinary();
    const clock = options.fakeClock === false ? realClock : createProcessClock(binary.dir);
    const mailbox = await openMailbox();
    mailboxes.push(mailbox);
    // The server computes equal password hashes only once, like tests within one process.
    const caching = `--preload ${join(import.meta.dir, "cached-hashing.ts")}`;
    Object.assign(binary.env, {
      ...clock.env,
      BUN_OPTIONS: `${clock.env.BUN_OPTIONS ?? ""} ${caching}`,
      BODEGA_SMTP_URL: mailbox.url,
      BODEGA_MAIL_FROM: "Shop <shop@example.com>",
    });
    const shop = await openShop(binary);
    return describeShop(binary, await serve(binary, options), clock, mailbox, shop);
  }

  return { startServedShop };
}

function serve(binary: Binary, { workers = 1, flags = ["--trusted-proxy", "127.0.0.1/32"] }: ServedShopOptions) {
  return binary.serve("--workers", String(workers), ...flags);
}

function describeShop(
  binary: Binary,
  server: Serving,
  clock: ProcessClock,
  mailbox: Mailbox,
  { namespace, key, auth }: Awaited<ReturnType<typeof openShop>>,
): ServedShop {
  const description = readDescription({ handle: () => fetch(`${server.url}/openapi.json`) });
  const served = { url: server.url, description: () => description };
  // The client is a trusted proxy, so the test chooses the address of each call.
  const clientOf: ServedShop["clientOf"] = (usual) => {
    const client = createClient(served, usual);
    return (request, { address = newAddress(), ...options } = {}) =>
      client(request, { ...options, headers: { "x-forwarded-for": address, ...options.headers } });
  };
  const call = clientOf({ namespace, auth });
  const callAnonymously = clientOf({ namespace });
  let users = 0;

  async function requireSuccess<T>(what: string, reply: ApiReply<T>): Promise<T> {
    if (reply.status >= 300) throw new Error(`${what} failed: ${reply.text}`);
    return reply.data;
  }

  function totp(secret: string, later = 0): string {
    return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: clock.now() + later * 30_000 });
  }

  async function signIn({ email, password }: ServedUser, more = {}): Promise<Session> {
    const body = { email, password, ...more };
    return requireSuccess("The login", await callAnonymously<Session>("POST /auth/login/", { body }));
  }

  return {
    binary,
    server,
    dataDir: join(binary.dir, "bodega-data"),
    clock,
    mailbox,
    namespace,
    key,
    auth,
    description: served.description,
    call,
    callAnonymously,
    clientOf,
    async createUser(fields = {}) {
      users += 1;
      const body = { email: `user-${users}@example.com`, password: goodPassword, ...fields };
      const { id } = await requireSuccess("The user", await call<ServedUser>("POST /users/", { body }));
      const { email, password } = body;
      return { id, email, password, login: { email, password } };
    },
    async restart(options) {
      await server.end();
      return describeShop(binary, await serve(binary, options), clock, mailbox, { namespace, key, auth });
    },
    signIn,
    totp,
    async enrol(user) {
      const { user_id, token } = await signIn(user);
      const query = { user_id, token };
      const path = "POST /users/me/two-factor/";
      const begun = await callAnonymously<{ secret: string }>(path, { query, body: { password: user.password } });
      const { secret } = await requireSuccess("The enrolment", begun);
      const code = (later = 0) => totp(secret, later);
      const confirmed = await callAnonymously<{ recovery_codes: string[] }>(`${path}confirm/`, {
        query,
        body: { otp: code() },
      });
      const { recovery_codes: recoveryCodes } = await requireSuccess("The confirmation", confirmed);
      const near = () => [-2, -1, 0, 1, 2].map(code);
      const wrongCode = () =>
        ["314159", "271828", "141421", "173205", "161803", "577215"].find((one) => !near().includes(one)) as string;
      return { recoveryCodes, code, wrongCode };
    },
    codeOf: async ({ user_id, token }) => (await callAnonymously("GET /products/", { query: { user_id, token } })).code,
    async requestCode({ email }) {
      const had = mailbox.received.filter((mail) => mail.to === email && codeForm.test(mail.text)).length;
      await requireSuccess("The request", await callAnonymously("POST /auth/password/forgot/", { body: { email } }));
      const { text } = await mailbox.waitFor(email, had + 1, codeForm);
      return codeForm.exec(text)?.[0] as string;
    },
  };
}
