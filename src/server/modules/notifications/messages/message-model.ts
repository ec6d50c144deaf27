import { type Static, Type } from "@sinclair/typebox";
import { closed, input, line, lines, nullable, output, textUpTo, timestamp, whole } from "../../../values/schema.ts";
import { platform, topicExpects, topicForm } from "../registrations/registration-model.ts";

export const messageBounds = { title: 200, body: 1000, url: 2000, minTtl: 60, maxTtl: 2_419_200, ttl: 86_400 };

const data = Type.Record(Type.String(), textUpTo(1000), {
  maxProperties: 20,
  description: "Values for the shop's own code. Names have letters, digits and underscores, and begin with a letter.",
  form: { propertyNames: { pattern: "^[A-Za-z][A-Za-z0-9_]*$" } },
});

/** A message, and its recipients: exactly one of `topic`, `customer_id` and `everyone`. */
export const MessageInput = input("NotificationInput", {
  title: line(messageBounds.title),
  body: lines(messageBounds.body),
  topic: Type.Optional(
    Type.String({
      pattern: topicForm,
      expects: topicExpects,
      description: "Sends to the devices that are registered for this topic.",
    }),
  ),
  customer_id: Type.Optional(textUpTo(100, "Sends to this user's devices. App keys may send `user_id`.")),
  everyone: Type.Optional(Type.Boolean({ description: "Sends to every device of the store." })),
  url: Type.Optional(
    textUpTo(messageBounds.url, "Page to open: an https address or a path.", { form: { pattern: "^(/|https://)" } }),
  ),
  data: Type.Optional(data),
  ttl: Type.Optional(
    whole(messageBounds.minTtl, messageBounds.maxTtl, "Seconds until the message expires.", {
      default: messageBounds.ttl,
    }),
  ),
});
export type MessageInput = Static<typeof MessageInput>;

const count = Type.Integer({ minimum: 0 });

const messageParts = {
  title: Type.String(),
  body: Type.String(),
  url: nullable(Type.String()),
  data: Type.Record(Type.String(), Type.String()),
  topic: nullable(Type.String()),
  user_id: nullable(Type.String()),
  lang: nullable(Type.String({ description: "Only devices of this language or its regional forms receive it." })),
  created_at: timestamp,
  expires_at: timestamp,
};

export const AcceptedMessage = output("AcceptedNotification", {
  id: nullable(Type.String({ description: "`msg_…`; null for a dry run." })),
  ...messageParts,
  recipients: Type.Object(
    { web: count, ios: count, android: count },
    { description: "Number of devices that the message is sent to, by platform." },
  ),
  undeliverable: Type.Array(
    Type.Object({ platform, message: Type.String({ description: "Description of the missing configuration." }) }),
    { description: "Platforms of these devices that the server is not configured to send to." },
  ),
});
export type AcceptedMessage = Static<typeof AcceptedMessage>;

export const Message = output("Notification", { id: Type.String({ description: "`msg_…`" }), ...messageParts });

export const MessageWithDeliveries = output("NotificationWithDeliveries", {
  ...Message.properties,
  is_complete: Type.Boolean({ description: "Whether all deliveries were created; until then the counts grow." }),
  deliveries: Type.Object(
    { waiting: count, sent: count, failed: count, dropped: count, expired: count },
    {
      description:
        "Number of devices by state. waiting: not tried yet, or to be retried; sent: accepted by the push service; " +
        "failed: rejected; dropped: the registration was removed; expired: not delivered in time.",
    },
  ),
});

export type MessageWithDeliveries = Static<typeof MessageWithDeliveries>;

export const SendQuery = closed({
  dry_run: Type.Optional(
    Type.Boolean({ description: "Checks the message and counts its devices, but sends nothing. The status is 200." }),
  ),
});
