import { afterAll } from "bun:test";
import { readDescription } from "./api-description.ts";
import { type Binary, type IssuedKey, openShop, useBinaries } from "./binary.ts";
import { type ApiReply, type Call, createClient, newAddress } from "./client.ts";
import { type Mailbox, openMailbox } from "./mailbox.ts";
import { createProcessClock, type ProcessClock } from "./process-clock.ts";
import type { Serving } from "./serving.ts";

/** A password that every rule for passwords lets pass. */
export const goodPassword = "Vermilion-Kettle-4871";

/** A user of a store under test. */
export interface ServedUser {
  id: string;
  email: string;
  password: string;
}

/** `data` of a login. */
export interface Session {
  user_id: string;
  token: string;
  expires_at: string;
  store: Record<string, unknown>;
}

/** A store in a server of its own: the executable, as its user runs it. */
export interface ServedShop {
  binary: Binary;
  server: Serving;
  clock: ProcessClock;
  mailbox: Mailbox;
  namespace: string;
  key: IssuedKey;
  /** Calls with namespace and key; each call from an address of its own unless it names one. */
  call: Call;
  /** Calls with the namespace only. */
  callAnonymously: Call;
  /** A client of another store in the same server. */
  clientOf: (other: { namespace: string; auth?: string }) => Call;
  createUser: (fields?: Record<string, unknown>) => Promise<ServedUser>;
  /** Logs in, and fails unless that succeeds. */
  signIn: (user: ServedUser, more?: Record<string, unknown>) => Promise<Session>;
  /** The code of a read as the holder of this token; undefined when it is let in. */
  codeOf: (session: Session) => Promise<number | undefined>;
  /** Asks for a reset code and takes it out of the mail. */
  requestCode: (user: { email: string }) => Promise<string>;
}

export interface ServedShopOptions {
  workers?: number;
  /** False: the machine's own time. */
  fakeClock?: boolean;
  flags?: string[];
}

/** To be called at the top of a test file; what it starts ends with the file. */
export function useServedShops(): { startServedShop: (options?: ServedShopOptions) => Promise<ServedShop> } {
  const { installBinary } = useBinaries();
  const mailboxes: Mailbox[] = [];
  afterAll(async () => {
    for (const mailbox of mailboxes) await mailbox.close();
  });

  async function startServedShop(options: ServedShopOptions = {}): Promise<ServedShop> {
    const binary = installBinary();
    const clock = createProcessClock(binary.dir);
    const mailbox = await openMailbox();
    mailboxes.push(mailbox);
    Object.assign(binary.env, {
      ...(options.fakeClock !== false && clock.env),
      BODEGA_SMTP_URL: mailbox.url,
      BODEGA_MAIL_FROM: "Shop <shop@example.com>",
    });
    const shop = await openShop(binary);
    const flags = options.flags ?? ["--trusted-proxy", "127.0.0.1/32"];
    const server = await binary.serve("--workers", String(options.workers ?? 1), ...flags);
    return describeShop(binary, server, clock, mailbox, shop);
  }

  return { startServedShop };
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
  // Through a proxy that the server trusts, each call comes from wherever the test says.
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

  return {
    binary,
    server,
    clock,
    mailbox,
    namespace,
    key,
    call,
    callAnonymously,
    clientOf,
    async createUser(fields = {}) {
      users += 1;
      const body = { email: `user-${users}@example.com`, password: goodPassword, ...fields };
      const { id } = await requireSuccess("The user", await call<ServedUser>("POST /users/", { body }));
      return { ...body, id };
    },
    async signIn({ email, password }, more = {}) {
      const body = { email, password, ...more };
      return requireSuccess("The login", await callAnonymously<Session>("POST /auth/login/", { body }));
    },
    codeOf: async ({ user_id, token }) => (await callAnonymously("GET /products/", { query: { user_id, token } })).code,
    async requestCode({ email }) {
      const had = mailbox.received.filter((mail) => mail.to === email).length;
      await requireSuccess("The request", await callAnonymously("POST /auth/password/forgot/", { body: { email } }));
      const { text } = await mailbox.waitFor(email, had + 1);
      const code = /(?<!\d)\d{6}(?!\d)/.exec(text)?.[0];
      if (code === undefined) throw new Error(`There is no code in the mail: ${text}`);
      return code;
    },
  };
}
