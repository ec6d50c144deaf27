import { Type } from "@sinclair/typebox";
import { anyone, token } from "../../http/access.ts";
import { reply, replyDeleted } from "../../http/envelope.ts";
import { defineRoute } from "../../http/route.ts";
import { ListQuery } from "../../pagination/list-query.ts";
import { IdParams } from "../../values/schema.ts";
import { listOwnDevices, removeOwnDevice } from "./registrations/own-devices.ts";
import {
  changeRegistration,
  describeOffer,
  registerDevice,
  removeOwnRegistration,
} from "./registrations/registration.ts";
import {
  Device,
  NewRegistration,
  PushOffer,
  Registration,
  RegistrationInput,
  RegistrationPatch,
  RegistrationProof,
  RegistrationProofQuery,
  RemovedRegistration,
} from "./registrations/registration-model.ts";

const tag = "Notifications";
const access = [anyone] as const;

export const registrationRoutes = [
  defineRoute("GET", "/notifications/register/", "getPushOffer", {
    tag,
    summary: "Get the Web Push key and the supported platforms",
    access,
    reply: { data: PushOffer },
    errors: [],
    handle: async ({ ctx }) => reply(await describeOffer(ctx)),
  }),
  defineRoute("POST", "/notifications/register/", "registerDevice", {
    tag,
    summary: "Register a browser or device, or renew its registration",
    access,
    body: RegistrationInput,
    ownField: "token",
    secret: true,
    reply: {
      status: 201,
      data: NewRegistration,
      existing: "The device was already registered. Its registration was renewed.",
    },
    errors: ["tooManyRequests", "conflict"],
    handle: async ({ ctx, body, lang, subject }) => {
      const { isNew, ...registration } = await registerDevice(ctx, { ...body, lang, subject });
      return reply(registration, { status: isNew ? 201 : 200 });
    },
  }),
  defineRoute("PATCH", "/notifications/register/:id/", "changeRegistration", {
    tag,
    summary: "Change a registration's topics, language, endpoint or token",
    access,
    params: IdParams,
    body: RegistrationPatch,
    ownField: "token",
    secret: true,
    reply: { data: Registration },
    errors: ["tooManyRequests", "notFound", "conflict"],
    handle: async ({ ctx, params, body, lang }) => reply(await changeRegistration(ctx, params.id, { ...body, lang })),
  }),
  defineRoute("DELETE", "/notifications/register/:id/", "removeRegistration", {
    tag,
    summary: "Remove a registration",
    access,
    params: IdParams,
    query: RegistrationProofQuery,
    body: RegistrationProof,
    secret: true,
    reply: { data: RemovedRegistration },
    errors: ["tooManyRequests", "notFound"],
    handle: ({ ctx, params, query, body }) =>
      replyDeleted(params.id, removeOwnRegistration(ctx, params.id, query.management_secret ?? body.management_secret)),
  }),
  defineRoute("GET", "/users/me/devices/", "listOwnDevices", {
    tag,
    summary: "List the devices of the signed-in user",
    access: [token],
    query: ListQuery,
    reply: { data: Type.Array(Device), page: true },
    errors: ["malformedRequest"],
    handle: ({ ctx, query }) => listOwnDevices(ctx, query),
  }),
  defineRoute("DELETE", "/users/me/devices/:id/", "removeOwnDevice", {
    tag,
    summary: "Remove a device of the signed-in user",
    access: [token],
    params: IdParams,
    reply: { data: RemovedRegistration },
    errors: ["notFound"],
    handle: ({ ctx, params }) => replyDeleted(params.id, removeOwnDevice(ctx, params.id)),
  }),
];
