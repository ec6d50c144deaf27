import { afterAll, describe, expect, test } from "bun:test";
import type { Answer } from "../../src/server/delivery/channel.ts";
import type { SendPush } from "../../src/server/modules/notifications/providers/provider.ts";
import { ensureVapidKeys } from "../../src/server/modules/notifications/providers/vapid.ts";
import { pushPolicy } from "../../src/server/modules/notifications/sending/delivery.ts";
import { fanOut } from "../../src/server/modules/notifications/sending/queue.ts";
import { createUser } from "../../src/server/modules/users/service.ts";
import { createBrowser, readVapid } from "../support/push-browser.ts";
import { closePushServices, openPushes } from "../support/pushes.ts";
import { onDatabase } from "../support/suite.ts";
import { until } from "../support/until.ts";

afterAll(closePushServices);

const { keys } = createBrowser();
const junkHosts = 200;
const taken: Answer = { result: "accepted", status: 201, retryAfterMs: 0, error: null };

/** Opens push services. Services on hosts that begin with `junk` never answer; all others accept messages at once. */
function openServices() {
  const heard: string[] = [];
  let hanging = 0;
  const peak = { hanging: 0 };
  const sendPush: SendPush = async ({ endpoint }, _payload, { signal }) => {
    const { host, pathname } = new URL(endpoint);
    if (!host.startsWith("junk")) {
      heard.push(pathname.slice(1));
      return taken;
    }
    peak.hanging = Math.max(peak.hanging, ++hanging);
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => reject(signal.reason));
    return promise.finally(() => {
      hanging -= 1;
    });
  };
  return { heard, peak, sendPush };
}

type Opened = Awaited<ReturnType<typeof openPushes>>;

async function registerJunk({ register }: Opened, count: number): Promise<void> {
  const endpoints = Array.from({ length: count }, (_, n) => `https://junk${n % junkHosts}.example/${n}`);
  await Promise.all(endpoints.map((endpoint) => register({ target: { endpoint, keys } })));
}

const registerGood = ({ register }: Opened, name: string, more: { isProven?: boolean; userId?: string } = {}) =>
  register({ target: { endpoint: `https://good.example/${name}`, keys }, ...more });

/** Queues a notification about an order. */
async function queueNotice({ queue, rows }: Opened, userId: string): Promise<void> {
  const id = await queue({ userId });
  const content = JSON.stringify({ type: "order.paid", order_id: "ord_1", number: 1, status: "paid" });
  await rows(`update push_messages set kind = 'order', content = '${content}' where id = '${id}'`);
}

/**
 * Polls like a server until `isDone`. The number of polls is not fixed, because hanging attempts end only after real
 * time.
 */
async function lookUntil({ sender, clock }: Opened, isDone: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!(await isDone())) {
    if (performance.now() > deadline) throw new Error("They have not heard of it in time.");
    await sender.poll();
    clock.advance(500);
    await Bun.sleep(5);
  }
}

describe("many registrations of strangers that never answer", () => {
  onDatabase("file", (suite) => {
    test("new devices of the same store receive messages, first those about orders", async () => {
      const { heard, peak, sendPush } = openServices();
      const opened = await openPushes(suite, { sender: { sendPush } });
      const { id: userId } = await createUser(opened.ctx, { email: "ann@example.com" });
      await registerGood(opened, "proven", { isProven: true });
      await registerJunk(opened, 500);
      for (let n = 0; n < 50; n++) await registerGood(opened, `new-${n}`);
      await registerGood(opened, "order", { userId });
      await opened.queue();
      await lookUntil(opened, () => heard.includes("proven"));
      await queueNotice(opened, userId);
      await lookUntil(opened, () => heard.includes("order"));
      const isTold = () => heard.filter((name) => name.startsWith("new-")).length === 50;
      await lookUntil(opened, isTold);
      expect(new Set(heard.filter((name) => name.startsWith("new-"))).size).toBe(50);
      expect(peak.hanging).toBeWithin(1, pushPolicy.untrusted.total + 1);
      await opened.sender.stop(0);
    });

    test("a device that hangs counts like a device that never received a message", async () => {
      const { heard, sendPush } = openServices();
      const opened = await openPushes(suite, { sender: { sendPush, timeoutMs: 50 } });
      const { id: userId } = await createUser(opened.ctx, { email: "eve@example.com" });
      for (let n = 0; n < 40; n++) {
        const target = { endpoint: `https://junk${n}.example/`, keys };
        await opened.register({ target, isProven: true, userId });
      }
      await registerGood(opened, "first", { isProven: true, userId });
      await queueNotice(opened, userId);
      await lookUntil(opened, async () => {
        const reached = (await opened.registrations()).filter(({ is_proven }) => is_proven === 1);
        return reached.length === 1 && heard.length > 0;
      });
      expect(heard).toEqual(["first"]);
      await opened.sender.stop(0);
    });

    test("at a large push service, a new device does not wait for devices of strangers, even directly after a start", async () => {
      const { heard, sendPush } = openServices();
      const opened = await openPushes(suite, { sender: { sendPush } });
      await registerJunk(opened, 400);
      await opened.register({ target: { endpoint: "https://fcm.googleapis.com/new", keys } });
      await opened.queue();
      // The clock stands still, so attempts that hang do not time out.
      await until("it is told", async () => {
        await opened.sender.poll();
        return heard.length > 0;
      });
      expect(heard).toEqual(["new"]);
      await opened.sender.stop(0);
    });

    test("each poll skips at most a limited number of deliveries that cannot be sent now", async () => {
      const { sendPush } = openServices();
      const opened = await openPushes(suite, { sender: { sendPush } });
      await registerJunk(opened, 600);
      await opened.queue();
      for (let n = 0; n < 2; n++) await fanOut({ db: suite.app.db, now: opened.clock.now });
      await opened.sender.poll();
      const looked = async () => {
        const now = new Date(opened.clock.now()).toISOString();
        const sql = `select count(*) as n from push_deliveries where next_attempt_at > '${now}'`;
        return (await opened.rows<{ n: number }>(sql))[0]?.n ?? 0;
      };
      await until("a part of it", async () => (await looked()) >= 200);
      await Bun.sleep(50);
      expect(await looked()).toBeLessThan(300);
      await opened.sender.stop(0);
    });
  });
});

onDatabase("file", (suite) => {
  test("without a configured contact, push services get a neutral address and no data of the store", async () => {
    const { service, register, queue, sender, ctx, rows, clock } = await openPushes(suite, {
      web: { contact: undefined },
    });
    await rows(`update tenants set url = null, domain = null where id = '${ctx.tenant.id}'`);
    await register({ target: service.subscribe().subscription });
    await queue();
    await sender.runUntilIdle();
    const { publicKey } = await ensureVapidKeys({ ...suite.app.system, now: clock.now });
    const { sub } = readVapid(service.received[0]?.headers.authorization ?? "", publicKey);
    expect(sub).toBe("mailto:push@store.invalid");
  });
});
