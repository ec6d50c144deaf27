import type { Ctx } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { byId, get, statement } from "../../db/statement.ts";
import { describeFailure } from "../../delivery/outbound.ts";
import { invalidField, notFound } from "../../errors.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import { eventTypes } from "../events/model.ts";
import { attemptMs, describeStatus, postEvent } from "./delivery.ts";
import samples from "./samples.json";
import { webhooks } from "./table.ts";

const target = { ...pick(webhooks, "url", "secret", "allowPrivate"), webhookId: webhooks.id };
const selectTarget = statement((q) => q.select(target).from(webhooks).where(byId(webhooks)));

/**
 * Sends a signed event with sample data about a record that does not exist, and returns the receiver's answer.
 * @throws notFound, validationFailed for an unknown type. A failure of the receiver is returned as `error`.
 */
export async function sendSample(ctx: Ctx, webhookId: string, given: string) {
  const type = eventTypes.find((one) => one === given);
  if (type === undefined) throw invalidField("type", `must be one of ${eventTypes.join(", ")}`);
  const found = await get(ctx.db, selectTarget, { tenantId: ctx.tenant.id, id: webhookId });
  if (!found) throw notFound("webhook", webhookId);
  const { prefix, data } = samples[type];
  const event_id = newId("evt");
  const event = { id: event_id, type, subject: newId(prefix), data, created_at: toTimestamp(ctx.now()) };
  const message = { id: event_id, body: JSON.stringify({ ...event, namespace: ctx.tenant.namespace }) };
  const started = performance.now();
  const result = await postEvent(found, message, ctx, AbortSignal.timeout(attemptMs)).then(
    async ({ status, text }) => ({ status, error: describeStatus(status), answer: (await text) || null }),
    (error: unknown) => ({ status: null, error: describeFailure(error), answer: null }),
  );
  return { ...result, duration_ms: Math.round(performance.now() - started), event_id, type, url: found.url };
}
