import type { ServerResponse } from "node:http";
import { queueMessage } from "../../src/server/modules/notifications/messages/messages.ts";
import { sealTarget, type Target } from "../../src/server/modules/notifications/providers/provider.ts";
import { ensureVapidKeys } from "../../src/server/modules/notifications/providers/vapid.ts";
import { createWebPush, type WebPushDeps } from "../../src/server/modules/notifications/providers/web-push.ts";
import { createPushEngine, type PushDeps } from "../../src/server/modules/notifications/sending/delivery.ts";
import { newId } from "../../src/server/values/stamps.ts";
import { vault } from "./app.ts";
import { createClock } from "./clock.ts";
import { tenantContext } from "./factories.ts";
import { type PushService, type ReceivedPush, startPushService } from "./push-service.ts";
import { withRuns } from "./run-until-idle.ts";
import type { Suite } from "./suite.ts";

const services: PushService[] = [];

/** Stops all push services that were opened. */
export async function closePushServices(): Promise<void> {
  await Promise.all(services.splice(0).map((service) => service.close()));
}

/** A delivery's row. */
export interface DeliveryRow {
  id: string;
  registration_id: string | null;
  priority: number;
  status: string;
  attempts: number;
  next_attempt_at: string;
  last_status: number | null;
  last_error: string | null;
}

interface Registration {
  platform?: "web" | "ios" | "android";
  target: Target;
  userId?: string;
  lang?: string;
  topics?: string[];
  isProven?: boolean;
}

/**
 * Opens a store with its own clock, a push service, and an engine that sends. Deletes waiting messages of other tests.
 */
export async function openPushes(
  suite: Suite,
  options: {
    answer?: (response: ServerResponse, message: ReceivedPush) => unknown;
    sender?: Partial<PushDeps>;
    web?: Partial<WebPushDeps>;
    /** Whether to use the application's clock, for calls over HTTP. */
    app?: boolean;
  } = {},
) {
  const { db } = suite.app;
  await db.batch(["delete from push_messages", "delete from push_registrations"]);
  const shop = await suite.shop({ tenant: { title: "Lamps & more" } });
  const clock = options.app ? suite.app.clock : createClock();
  const ctx = { ...(await tenantContext(shop)), now: clock.now };
  const service = await startPushService(options.answer);
  services.push(service);
  const notices: string[] = [];
  const readKeys = () => ensureVapidKeys({ db, vault, now: clock.now });
  const openSender = (more: Partial<PushDeps> = {}) =>
    withRuns(
      createPushEngine({
        db,
        vault,
        now: clock.now,
        sendPush: createWebPush({
          ...{ readKeys, now: clock.now, allowPrivate: true, contact: "mailto:ops@example.com" },
          ...options.web,
        }),
        notice: (_level, message) => notices.push(message),
        ...options.sender,
        ...more,
      }),
    );
  const rows = async <T>(sql: string): Promise<T[]> => (await db.execute(sql)).rows as unknown as T[];
  return {
    shop,
    clock,
    ctx,
    service,
    notices,
    openSender,
    sender: openSender(),
    /** Inserts a registration, as a call over HTTP would. Returns its id. */
    async register({ platform = "web", topics = [], isProven = false, ...device }: Registration) {
      const id = newId("reg");
      const now = new Date(clock.now()).toISOString();
      const tenantId = ctx.tenant.id;
      const { userId = null, lang = null } = device;
      const sealed = sealTarget(vault, id, device.target);
      await db.execute({
        sql: `insert into push_registrations (id, tenant_id, platform, target_key, target, user_id, lang, secret_hash,
          is_proven, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, '', ?, ?, ?)`,
        args: [id, tenantId, platform, id, sealed, userId, lang, isProven ? 1 : 0, now, now],
      });
      const sql = "insert into push_topics (tenant_id, topic, registration_id) values (?, ?, ?)";
      await db.batch(topics.map((topic) => ({ sql, args: [tenantId, topic, id] })));
      return id;
    },
    /** Queues a message. By default, it is valid for a day. */
    queue: (message: Partial<Parameters<typeof queueMessage>[1]> = {}) =>
      queueMessage(ctx, {
        topic: null,
        userId: null,
        lang: null,
        content: { title: "News", body: "Lamps are here" },
        expiresAt: clock.now() + 86_400_000,
        ...message,
      }),
    deliveries: () => rows<DeliveryRow>("select * from push_deliveries order by id"),
    registrations: () =>
      rows<{ id: string; is_proven: number }>("select id, is_proven from push_registrations order by id"),
    rows,
    /** Moves the clock to the next attempt of the waiting delivery. */
    async skipToNext() {
      const [next] = await rows<DeliveryRow>(
        "select * from push_deliveries where status = 'waiting' order by next_attempt_at limit 1",
      );
      clock.advance(Date.parse(next?.next_attempt_at as string) - clock.now());
    },
  };
}
