import { anyone } from "../../http/access.ts";
import { reply } from "../../http/envelope.ts";
import { defineRoute } from "../../http/route.ts";
import {
  changeRegistration,
  describeOffer,
  registerDevice,
  removeOwnRegistration,
} from "./registrations/registration.ts";
import {
  NewRegistration,
  PushOffer,
  Registration,
  RegistrationInput,
  RegistrationParams,
  RegistrationPatch,
  RegistrationProof,
  RegistrationProofQuery,
  RemovedRegistration,
} from "./registrations/registration-model.ts";

const tag = "Notifications";
const access = [anyone] as const;

/** The endpoints with which browsers and devices register. */
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
    errors: ["tooManyRequests", "notFound", "conflict"],
    handle: async ({ ctx, body, lang, subject }) => {
      const { isNew, ...registration } = await registerDevice(ctx, { ...body, lang, subject });
      return reply(registration, { status: isNew ? 201 : 200 });
    },
  }),
  defineRoute("PATCH", "/notifications/register/:id/", "changeRegistration", {
    tag,
    summary: "Change a registration's topics, language, endpoint or token",
    access,
    params: RegistrationParams,
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
    params: RegistrationParams,
    query: RegistrationProofQuery,
    body: RegistrationProof,
    secret: true,
    reply: { data: RemovedRegistration },
    errors: ["tooManyRequests", "notFound"],
    handle: async ({ ctx, params, query, body }) => {
      await removeOwnRegistration(ctx, params.id, query.management_secret ?? body.management_secret);
      return reply({ id: params.id, deleted: true });
    },
  }),
];
