import { type Static, Type } from "@sinclair/typebox";
import { nullable, timestamp } from "../../../values/schema.ts";
import { topicExpects, topicForm } from "./topic.ts";

/** Most topics of one registration. */
const maxTopics = 20;
const maxCharacters = 4096;

const platform = Type.Union([Type.Literal("web"), Type.Literal("ios"), Type.Literal("android")]);
const topics = Type.Array(Type.String({ pattern: topicForm, expects: topicExpects }), {
  maxItems: maxTopics,
  description: "What to hear of besides one's own orders, such as `offers`.",
});
const managementSecret = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "`rsec_…`, as the registration answered it.",
});
const given = Type.String({ minLength: 1, maxLength: maxCharacters });

const targetParts = {
  subscription: Type.Optional(
    Type.Object(
      {
        endpoint: Type.String({ maxLength: 2000, description: "https, and on the public internet." }),
        expirationTime: Type.Optional(nullable(Type.Number({ description: "As browsers send it; not looked at." }))),
        keys: Type.Object(
          {
            p256dh: Type.String({ maxLength: 200, description: "Base64url of 65 bytes, a point of P-256." }),
            auth: Type.String({ maxLength: 200, description: "Base64url of 16 bytes." }),
          },
          { additionalProperties: false },
        ),
      },
      { additionalProperties: false, description: "Of `web`: the browser's subscription, `toJSON()` as it is." },
    ),
  ),
  token: Type.Optional({ ...given, description: "Of `ios` and `android`: the device's token, of APNs or FCM." }),
};

/** What registers a browser or device. */
export const RegistrationInput = Type.Object(
  {
    platform,
    ...targetParts,
    topics: Type.Optional(topics),
    management_secret: Type.Optional({
      ...managementSecret,
      description: "Needed where the endpoint is registered with other keys: that registration's.",
    }),
  },
  { $id: "RegistrationInput", additionalProperties: false },
);
export type RegistrationInput = Static<typeof RegistrationInput>;

/** What a registration's own device changes; a field that is left out stays as it is. */
export const RegistrationPatch = Type.Object(
  { management_secret: Type.Optional(managementSecret), ...targetParts, topics: Type.Optional(topics) },
  { $id: "RegistrationPatch", additionalProperties: false },
);
export type RegistrationPatch = Static<typeof RegistrationPatch>;

const secretPart = { management_secret: Type.Optional(managementSecret) };

/** What proves that a registration is the caller's own; the query of a DELETE may hold it as well. */
export const RegistrationProof = Type.Object(secretPart, { $id: "RegistrationProof", additionalProperties: false });
export const RegistrationProofQuery = Type.Object(secretPart, { additionalProperties: false });

export const RegistrationParams = Type.Object({ id: Type.String() });

const delivery = Type.Union([Type.Literal("on"), Type.Literal("off")], {
  description: "`off` where this server cannot send to the platform; what is registered is told once it can.",
});

const shown = {
  id: Type.String({ description: "`reg_…`" }),
  platform,
  lang: Type.String({ description: "BCP 47: the language of what it is told." }),
  topics: Type.Array(Type.String(), { description: "In alphabetical order." }),
  user_id: nullable(Type.String({ description: "Whose orders it hears of: who was signed in when it registered." })),
  delivery,
  created_at: timestamp,
  updated_at: timestamp,
};

/** A registration as its own device sees it. */
export const Registration = Type.Object(shown, { $id: "Registration" });
export type Registration = Static<typeof Registration>;

/** The same with what is needed to change or remove it. */
export const NewRegistration = Type.Object(
  {
    ...shown,
    management_secret: Type.String({ description: "Needed to change or remove it, and shown here only." }),
  },
  { $id: "NewRegistration" },
);
export type NewRegistration = Static<typeof NewRegistration>;

/** What a removal answers. */
export const RemovedRegistration = Type.Object(
  { id: Type.String(), deleted: Type.Literal(true) },
  { $id: "RemovedRegistration" },
);

/** What has to be known before a device registers. */
export const PushOffer = Type.Object(
  {
    vapid_public_key: nullable(
      Type.String({
        description: "The `applicationServerKey` that browsers subscribe with; null while there is none.",
      }),
    ),
    platforms: Type.Array(Type.Object({ platform, delivery })),
  },
  { $id: "PushOffer" },
);
export type PushOffer = Static<typeof PushOffer>;
