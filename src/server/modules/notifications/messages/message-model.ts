import { type Static, Type } from "@sinclair/typebox";
import { listParts } from "../../../pagination/list-query.ts";
import { nullable, timestamp } from "../../../values/schema.ts";
import { topicExpects, topicForm } from "../registrations/registration-model.ts";

/** Bounds of a message; times in seconds. */
export const messageBounds = { title: 200, body: 1000, url: 2000, leastTtl: 60, maxTtl: 2_419_200, ttl: 86_400 };

const data = Type.Record(Type.String(), Type.String({ maxLength: 1000 }), {
  maxProperties: 20,
  description: "For the shop's own code; texts by names of letters, digits and underscores.",
});

/** Something that the store has to say, and to whom: exactly one of `topic`, `customer_id` and `everyone`. */
export const MessageInput = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: messageBounds.title }),
    body: Type.String({ minLength: 1, maxLength: messageBounds.body }),
    topic: Type.Optional(
      Type.String({ pattern: topicForm, expects: topicExpects, description: "To those who want to hear of it." }),
    ),
    customer_id: Type.Optional(
      Type.String({ maxLength: 100, description: "To the devices of this user (app keys: also by `user_id`)." }),
    ),
    everyone: Type.Optional(Type.Literal(true, { description: "To every device of the store." })),
    url: Type.Optional(
      Type.String({ maxLength: messageBounds.url, description: "Where it leads: an https address or a path." }),
    ),
    data: Type.Optional(data),
    ttl: Type.Optional(
      Type.Integer({
        minimum: messageBounds.leastTtl,
        maximum: messageBounds.maxTtl,
        default: messageBounds.ttl,
        description: "For how many seconds anybody wants to hear of it.",
      }),
    ),
  },
  { $id: "NotificationInput", additionalProperties: false },
);
export type MessageInput = Static<typeof MessageInput>;

const count = Type.Integer({ minimum: 0 });
const platform = Type.Union([Type.Literal("web"), Type.Literal("ios"), Type.Literal("android")]);

const messageParts = {
  title: Type.String(),
  body: Type.String(),
  url: nullable(Type.String()),
  data: Type.Record(Type.String(), Type.String()),
  topic: nullable(Type.String()),
  user_id: nullable(Type.String()),
  lang: nullable(Type.String({ description: "Only registrations of this language, or a variety of it." })),
  created_at: timestamp,
  expires_at: timestamp,
};

/** A message that was accepted, or tried, and how many devices it is for. */
export const AcceptedMessage = Type.Object(
  {
    id: nullable(Type.String({ description: "`msg_…`; null where it was only tried." })),
    ...messageParts,
    recipients: Type.Object({ web: count, ios: count, android: count }, { description: "Devices that fit now." }),
    undeliverable: Type.Array(
      Type.Object({ platform, message: Type.String({ description: "What is missing for it." }) }),
      { description: "The platforms among them that this server cannot send to." },
    ),
  },
  { $id: "AcceptedNotification" },
);

/** A message of the store. */
export const Message = Type.Object(
  { id: Type.String({ description: "`msg_…`" }), ...messageParts },
  { $id: "Notification" },
);

/** A message of the store, and what became of it. */
export const MessageWithDeliveries = Type.Object(
  {
    ...Message.properties,
    is_complete: Type.Boolean({ description: "Whether its deliveries are all made; until then more will be counted." }),
    deliveries: Type.Object(
      { waiting: count, sent: count, failed: count, dropped: count, expired: count },
      {
        description:
          "Devices: not tried or to be tried again; taken by their push service; refused for good; gone, so that their " +
          "registration was removed; not reached in time.",
      },
    ),
  },
  { $id: "NotificationWithDeliveries" },
);

export type MessageWithDeliveries = Static<typeof MessageWithDeliveries>;

/** A malformed id is answered as unknown (notFound). */
export const MessageParams = Type.Object({ id: Type.String() });

export const SendQuery = Type.Object(
  {
    dry_run: Type.Optional(
      Type.Boolean({ description: "Checks it and counts the devices, answers 200, sends nothing." }),
    ),
  },
  { additionalProperties: false },
);

export const MessageListQuery = Type.Object(listParts, { additionalProperties: false });
export type MessageListQuery = Static<typeof MessageListQuery>;
