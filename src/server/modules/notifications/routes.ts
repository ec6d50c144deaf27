import { Type } from "@sinclair/typebox";
import { app, defineRoute, publicAccess, reply, replyDeleted, staff, token } from "../../http/route.ts";
import { ListQuery } from "../../pagination/list-query.ts";
import { IdParams } from "../../values/schema.ts";
import { AcceptedMessage, Message, MessageInput, MessageWithDeliveries, SendQuery } from "./messages/message-model.ts";
import { describeMessage, getMessage, listMessages, prepareMessage, sendMessage } from "./messages/messages.ts";
import {
  changeRegistration,
  describeOffer,
  registerDevice,
  removeOwnRegistration,
} from "./registrations/registration.ts";
import {
  CreatedRegistration,
  Device,
  PushOffer,
  Registration,
  RegistrationInput,
  RegistrationPatch,
  RegistrationProof,
  RemovedRegistration,
} from "./registrations/registration-model.ts";
import { listOwnDevices, removeOwnDevice } from "./registrations/registrations.ts";

const device = { tag: "Notifications", access: [publicAccess] } as const;
const own = { tag: "Notifications", access: [token] } as const;
const senders = { tag: "Notifications", access: [app("notifications:write"), staff] } as const;

export const notificationRoutes = [
  defineRoute("GET", "/notifications/register/", "getPushOffer", {
    ...device,
    summary: "Get the Web Push key and the supported platforms",
    reply: { data: PushOffer },
    handle: async ({ ctx }) => reply(await describeOffer(ctx)),
  }),
  defineRoute("POST", "/notifications/register/", "registerDevice", {
    ...device,
    summary: "Register a browser or device, or renew its registration",
    body: RegistrationInput,
    ownField: "token",
    secret: true,
    reply: {
      status: 201,
      data: CreatedRegistration,
      existing: "The device was already registered. Its registration was renewed.",
    },
    errors: ["tooManyRequests", "conflict", "wrongState"],
    handle: async ({ ctx, body, lang, subject }) => {
      const { isNew, ...registration } = await registerDevice(ctx, { ...body, lang, subject });
      return reply(registration, { status: isNew ? 201 : 200 });
    },
  }),
  defineRoute("PATCH", "/notifications/register/:id/", "changeRegistration", {
    ...device,
    summary: "Change a registration's topics, language, endpoint or token",
    params: IdParams,
    body: RegistrationPatch,
    ownField: "token",
    secret: true,
    reply: { data: Registration },
    errors: ["tooManyRequests", "conflict"],
    handle: async ({ ctx, params, body, lang }) => reply(await changeRegistration(ctx, params.id, { ...body, lang })),
  }),
  defineRoute("DELETE", "/notifications/register/:id/", "removeRegistration", {
    ...device,
    summary: "Remove a registration",
    params: IdParams,
    body: RegistrationProof,
    secret: true,
    reply: { data: RemovedRegistration },
    errors: ["tooManyRequests"],
    handle: ({ ctx, params, body }) =>
      replyDeleted(params.id, removeOwnRegistration(ctx, params.id, body.management_secret)),
  }),
  defineRoute("GET", "/users/me/devices/", "listOwnDevices", {
    ...own,
    summary: "List the devices of the signed-in user",
    query: ListQuery,
    reply: { data: Type.Array(Device), page: true },
    handle: ({ ctx, query }) => listOwnDevices(ctx, query),
  }),
  defineRoute("DELETE", "/users/me/devices/:id/", "removeOwnDevice", {
    ...own,
    summary: "Remove a device of the signed-in user",
    params: IdParams,
    reply: { data: RemovedRegistration },
    handle: ({ ctx, params }) => replyDeleted(params.id, removeOwnDevice(ctx, params.id)),
  }),
  defineRoute("POST", "/notifications/send/", "sendNotification", {
    ...senders,
    summary: "Send a notification",
    query: SendQuery,
    body: MessageInput,
    reply: { status: 201, data: AcceptedMessage },
    errors: ["notFound"],
    prepare: ({ ctx, body, subject, lang }) => prepareMessage(ctx, { ...body, subject, lang }),
    handle: async ({ ctx, query }, prepared) =>
      query.dry_run ? reply(describeMessage(ctx, prepared), { status: 200 }) : reply(await sendMessage(ctx, prepared)),
  }),
  defineRoute("GET", "/notifications/messages/", "listNotifications", {
    ...senders,
    summary: "List the notifications that the store has sent",
    query: ListQuery,
    reply: { data: Type.Array(Message), page: true },
    handle: ({ ctx, query }) => listMessages(ctx, query),
  }),
  defineRoute("GET", "/notifications/messages/:id/", "getNotification", {
    ...senders,
    summary: "Get a notification and the states of its deliveries",
    params: IdParams,
    reply: { data: MessageWithDeliveries },
    handle: ({ ctx, params }) => getMessage(ctx, params.id),
  }),
];
