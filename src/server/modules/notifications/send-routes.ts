import { Type } from "@sinclair/typebox";
import { app, staff } from "../../http/access.ts";
import { reply } from "../../http/envelope.ts";
import { defineRoute } from "../../http/route.ts";
import { ListQuery } from "../../pagination/list-query.ts";
import { IdParams } from "../../values/schema.ts";
import { describeMessage, prepareMessage, sendMessage } from "./messages/message.ts";
import { AcceptedMessage, Message, MessageInput, MessageWithDeliveries, SendQuery } from "./messages/message-model.ts";
import { getMessage, listMessages } from "./messages/messages.ts";

const tag = "Notifications";
const senders = [app("notifications:write"), staff] as const;

export const sendRoutes = [
  defineRoute("POST", "/notifications/send/", "sendNotification", {
    tag,
    summary: "Send a notification",
    access: senders,
    query: SendQuery,
    body: MessageInput,
    reply: { status: 201, data: AcceptedMessage },
    errors: ["notFound"],
    prepare: ({ ctx, body, subject, lang }) => prepareMessage(ctx, { ...body, subject, lang }),
    handle: async ({ ctx, query }, prepared) =>
      query.dry_run ? reply(describeMessage(ctx, prepared), { status: 200 }) : reply(await sendMessage(ctx, prepared)),
  }),
  defineRoute("GET", "/notifications/messages/", "listNotifications", {
    tag,
    summary: "List the notifications that the store has sent",
    access: senders,
    query: ListQuery,
    reply: { data: Type.Array(Message), page: true },
    errors: ["malformedRequest"],
    handle: ({ ctx, query }) => listMessages(ctx, query),
  }),
  defineRoute("GET", "/notifications/messages/:id/", "getNotification", {
    tag,
    summary: "Get a notification and the states of its deliveries",
    access: senders,
    params: IdParams,
    reply: { data: MessageWithDeliveries },
    errors: ["notFound"],
    handle: ({ ctx, params }) => getMessage(ctx, params.id),
  }),
];
