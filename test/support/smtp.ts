import type { AddressInfo, Socket } from "node:net";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";
import { certificate, certificateKey } from "./certificate.ts";
import { until } from "./until.ts";

/** A received mail. */
export interface Delivery {
  from: string;
  to: string[];
  /** Whether the connection was encrypted. */
  secure: boolean;
  /** The name with which the client signed in. */
  user: string | undefined;
  raw: string;
  mail: Email;
  /** Returns the raw value of a header. */
  header: (name: string) => string | undefined;
}

/** A step of the session, at which the server can misbehave. */
export type Stage = "connect" | "mail" | "rcpt" | "data";

/** The server's behaviour: it sends a reply such as `"450 try later"`, does not reply, or closes the connection. */
export type Behaviour = `${number} ${string}` | "hang" | "cut";

interface SmtpServerOptions {
  port?: number;
  /** TLS: `plain` (default) has no TLS, `starttls` offers TLS, and `tls` accepts only TLS. */
  security?: "plain" | "starttls" | "tls";
  /** The only credentials that the server accepts. */
  credentials?: { user: string; password: string };
  /**
   * Decides at each step; undefined means the normal reply. If it cuts the connection at `data`, the mail was still
   * accepted.
   */
  behave?: (stage: Stage, address: string) => Behaviour | undefined;
}

/** A real mail server that a test controls. */
export interface SmtpServerUnderTest {
  url: string;
  port: number;
  received: Delivery[];
  /** Returns the number of connections so far. */
  connections: () => number;
  /** Waits until this many mails have arrived. Returns the last mail. */
  waitFor: (count: number) => Promise<Delivery>;
  close: () => Promise<void>;
}

/** Starts a mail server on loopback. */
export async function startSmtpServer(options: SmtpServerOptions = {}): Promise<SmtpServerUnderTest> {
  const { security = "plain", credentials, behave = () => undefined } = options;
  const received: Delivery[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;

  /** Behaves as `behave` returns, or continues normally. */
  function play(stage: Stage, address: string, done: (error?: Error) => void): void {
    const behaviour = behave(stage, address);
    if (behaviour === undefined) done();
    else if (behaviour === "cut") for (const socket of sockets) socket.destroy();
    else if (behaviour !== "hang") {
      const [code, ...words] = behaviour.split(" ");
      done(Object.assign(new Error(words.join(" ")), { responseCode: Number(code) }));
    }
  }

  const settings: SMTPServerOptions = {
    secure: security === "tls",
    key: certificateKey,
    cert: certificate,
    disabledCommands: [...(security === "starttls" ? [] : ["STARTTLS"]), ...(credentials ? [] : ["AUTH"])],
    allowInsecureAuth: true,
    authOptional: credentials === undefined,
    closeTimeout: 100,
    onAuth: ({ username, password }, _session, done) => {
      const isRight = username === credentials?.user && password === credentials?.password;
      done(isRight ? null : new Error(`wrong ${username} ${password}`), isRight ? { user: username ?? "" } : undefined);
    },
    onConnect: (_session, done) => play("connect", "", done),
    onMailFrom: ({ address }, _session, done) => play("mail", address, done),
    onRcptTo: ({ address }, _session, done) => play("rcpt", address, done),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", async () => {
        const delivery = await readDelivery(Buffer.concat(chunks), session);
        play("data", delivery.to[0] ?? "", (error) => {
          if (!error) received.push(delivery);
          done(error);
        });
      });
    },
  };
  const server = new SMTPServer(settings);
  server.server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  const signIn = credentials
    ? `${encodeURIComponent(credentials.user)}:${encodeURIComponent(credentials.password)}@`
    : "";
  return {
    url: `${security === "tls" ? "smtps" : "smtp"}://${signIn}127.0.0.1:${port}`,
    port,
    received,
    connections: () => connections,
    waitFor: (count) => until(`mail ${count}`, () => received[count - 1]),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function readDelivery(bytes: Buffer, session: SMTPServerSession): Promise<Delivery> {
  const mail = await PostalMime.parse(bytes);
  const { mailFrom, rcptTo } = session.envelope;
  return {
    from: mailFrom === false ? "" : mailFrom.address,
    to: rcptTo.map(({ address }) => address),
    secure: session.secure,
    user: session.user ? String(session.user) : undefined,
    raw: bytes.toString("latin1"),
    mail,
    header: (name) => mail.headers.find(({ key }) => key === name.toLowerCase())?.value,
  };
}
