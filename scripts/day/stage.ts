import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isolateExecutable } from "../../test/binary/lone-executable.ts";
import { childrenOf, isRunning } from "../../test/binary/processes.ts";
import { findPort } from "../../test/support/port.ts";
import { createProcessClock } from "../../test/support/process-clock.ts";
import { uniform } from "../../test/support/random.ts";
import { type Serving, watchServer } from "../../test/support/serving.ts";
import { startSmtpServer } from "../../test/support/smtp.ts";
import { startStripe } from "../../test/support/stripe.ts";
import { until } from "../../test/support/until.ts";

export interface Reply<T> {
  status: number;
  data: T;
  code?: number;
}

/** The credentials and the query of a request. */
export interface Caller {
  auth?: string;
  orderToken?: string;
  query?: Record<string, string>;
}

export type Stage = Awaited<ReturnType<typeof openStage>>;

const plannedKills = 10;

/** Paths of POST requests without an Idempotency-Key. Their replies contain secrets, and a repetition does no harm. */
const withoutKey = /\/(?:checkout|check|login|invoice|access)\/$/;

/** Puts the executable alone into a directory, and starts its clock, a simulated Stripe and a mail server. */
export async function openStage(seed: number, executable?: string) {
  const numbers = uniform(seed);
  const random = () => numbers.next().value;
  const below = (count: number) => Math.floor(random() * count);
  const alone = isolateExecutable(executable);
  const clock = createProcessClock(alone.dir);
  const stripe = await startStripe({ now: clock.now });
  stripe.delivery = "held";
  /** When mails arrived: real times in milliseconds, as in `kills`. */
  const arrivals: number[] = [];
  const smtp = await startSmtpServer({
    behave: (stage) => {
      if (stage === "data") arrivals.push(performance.now());
      return undefined;
    },
  });
  const port = findPort();
  const url = `http://127.0.0.1:${port}`;
  Object.assign(alone.env, clock.env, {
    ...{ BODEGA_STRIPE_URL: stripe.url, BODEGA_PUBLIC_URL: url },
    ...{ BODEGA_SMTP_URL: smtp.url, BODEGA_MAIL_FROM: "Kiln <kiln@example.com>" },
  });
  let server: Serving | undefined;
  /** Real times of the kills, in milliseconds. */
  const kills: number[] = [];
  /** The number of calls, and of calls that a kill interrupted. */
  const counts = { calls: 0, cut: 0 };
  /** The numbers of calls after which the server is killed. Some calls are then in flight. */
  const killsAt = Array.from({ length: plannedKills }, (_, index) => 12 + index * 18 + below(12));
  let killing: Promise<void> | undefined;

  async function run(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await alone.run(args);
    if (code !== 0) throw new Error(`bodega ${args.join(" ")} ended with ${code}: ${stderr}`);
    return stdout;
  }

  async function serve(): Promise<void> {
    const command = [alone.path, "serve", "--port", String(port), "--workers", "2"];
    const child = Bun.spawn(command, { cwd: alone.dir, env: alone.env, stdio: ["ignore", "pipe", "pipe"] });
    server = watchServer(child);
    await server.ready();
  }

  /** Kills the server and its workers, and starts it again. */
  async function kill(): Promise<void> {
    await Bun.sleep(random() * 40);
    const dying = server as Serving;
    const pids = [dying.pid, ...childrenOf(dying.pid)];
    for (const pid of pids) process.kill(pid, "SIGKILL");
    kills.push(performance.now());
    await dying.exited;
    await until("the end of the workers", () => !pids.some(isRunning));
    // Claims of the killed server expire after a minute. The clock jumps now, because a running server may send mail.
    clock.advance(61_000);
    await serve();
  }

  /** Sends a request until it is answered, however often the server is killed meanwhile. */
  async function call<T>(request: string, body?: object, caller: Caller = {}): Promise<Reply<T>> {
    const [method = "", path = ""] = request.split(" ");
    const query = new URLSearchParams({ namespace: "demo", ...caller.query });
    const headers: Record<string, string> = {
      ...(caller.auth !== undefined && { authorization: caller.auth }),
      ...(caller.orderToken !== undefined && { "x-order-token": caller.orderToken }),
      ...(body && { "content-type": "application/json" }),
      ...(method === "POST" && !withoutKey.test(path) && { "idempotency-key": crypto.randomUUID() }),
    };
    const init = { method, headers, keepalive: false, ...(body && { body: JSON.stringify(body) }) };
    const deadline = performance.now() + 60_000;
    counts.calls += 1;
    if (counts.calls >= (killsAt[0] ?? Number.POSITIVE_INFINITY) && !killing) {
      killsAt.shift();
      killing = kill().finally(() => {
        killing = undefined;
      });
    }
    for (;;) {
      const reply = await fetch(`${url}${path}?${query}`, init)
        .then(async (one) => ({ status: one.status, ...((await one.json()) as Record<string, unknown>) }))
        .catch(() => undefined);
      const { data, error } = (reply ?? {}) as { data?: T; error?: { code: number; message: string } };
      if (error?.code === 5000) throw new Error(`${request}: ${error.message}\n${server?.log().slice(-2000)}`);
      if (reply && error?.code !== 5001)
        return { status: reply.status, data: data as T, ...(error && { code: error.code }) };
      counts.cut += 1;
      if (performance.now() > deadline) throw new Error(`${request} was not answered for a minute`);
      await Bun.sleep(20);
    }
  }

  /** As `call`, for a request that must succeed. */
  async function must<T>(request: string, body?: object, caller: Caller = {}): Promise<T> {
    const reply = await call<T>(request, body, caller);
    if (reply.status >= 300) throw new Error(`${request} ${JSON.stringify(body)}: ${reply.status}, ${reply.code}`);
    return reply.data;
  }

  return {
    ...{ seed, random, below, clock, stripe, smtp, arrivals, kills, counts, url, run, serve, kill, call, must },
    dir: alone.dir,
    write: (name: string, content: string | Uint8Array) => writeFileSync(join(alone.dir, name), content),
    log: () => server?.log() ?? "",
    /** Makes the remaining kills, and waits for them. */
    async finishKills(): Promise<void> {
      await killing;
      for (; killsAt.length > 0; killsAt.shift()) await kill();
    },
    stop: async () => {
      const code = await server?.end();
      if (code !== 0) throw new Error(`The server ended with ${code}: ${server?.log().slice(-2000)}`);
    },
    async close(): Promise<void> {
      killsAt.length = 0;
      await killing?.catch(() => {});
      server?.signal("SIGKILL");
      await Promise.all([server?.exited, stripe.stop(), smtp.close()]);
      alone.remove();
    },
  };
}
