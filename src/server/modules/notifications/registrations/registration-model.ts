import { type Static, Type } from "@sinclair/typebox";
import { closed, deleted, input, nullable, oneOf, output, text, textUpTo, timestamp } from "../../../values/schema.ts";

export const topicForm = "^[a-z0-9][a-z0-9._-]{0,63}$";
export const topicExpects = "1 to 64 of a-z, 0-9, dot, dash and underscore, beginning with a letter or digit";

export const platform = oneOf(["web", "ios", "android"]);
const topics = Type.Array(Type.String({ pattern: topicForm, expects: topicExpects }), {
  maxItems: 20,
  description: "Topics of the notifications to receive in addition to those about the user's orders.",
});
const managementSecret = text(100, "Secret of the registration, `rsec_…`, from the reply that created it.");

const subscription = Type.Object(
  {
    endpoint: textUpTo(2000, "An https address on the public internet, with port 443 or 8443."),
    expirationTime: Type.Optional(nullable(Type.Number({ description: "As browsers send it; ignored." }))),
    keys: closed({
      p256dh: textUpTo(200, "Public key of curve P-256: 65 bytes in base64url."),
      auth: textUpTo(200, "16 bytes in base64url."),
    }),
  },
  {
    $id: "PushSubscription",
    additionalProperties: false,
    description: "For `web`: the result of `PushSubscription.toJSON()`.",
  },
);

const targetParts = {
  subscription: Type.Optional(subscription),
  token: Type.Optional(text(512, "For `ios` and `android`: the device's token from APNs or FCM.")),
};

export const RegistrationInput = input("RegistrationInput", {
  platform,
  ...targetParts,
  topics: Type.Optional(topics),
  management_secret: Type.Optional({
    ...managementSecret,
    description: "Required if the endpoint is registered with other keys: the secret of that registration.",
  }),
});
export type RegistrationInput = Static<typeof RegistrationInput>;

export const RegistrationPatch = input("RegistrationPatch", {
  management_secret: managementSecret,
  ...targetParts,
  topics: Type.Optional(topics),
});
export type RegistrationPatch = Static<typeof RegistrationPatch>;

export const RegistrationProof = input("RegistrationProof", { management_secret: managementSecret });

const delivery = oneOf(["on", "off"], {
  description: "`off` while the server is not configured to send to the platform.",
});

const shown = {
  id: Type.String({ description: "`reg_…`" }),
  platform,
  lang: Type.String({ description: "Language of its notifications, as a BCP 47 tag." }),
  topics: Type.Array(Type.String(), { description: "In alphabetical order." }),
  user_id: nullable(
    Type.String({
      description: "User who was signed in at the registration. The device receives notifications about their orders.",
    }),
  ),
  delivery,
  created_at: timestamp,
  updated_at: timestamp,
};

export const Registration = output("Registration", shown);
export type Registration = Static<typeof Registration>;

export const CreatedRegistration = output("CreatedRegistration", {
  ...shown,
  management_secret: Type.String({ description: "Required to change or remove it. Returned only once." }),
});

export const Device = Type.Omit(Registration, ["user_id", "delivery"], { $id: "Device" });

export const RemovedRegistration = deleted("RemovedRegistration");

export const PushOffer = output("PushOffer", {
  vapid_public_key: Type.String({ description: "The `applicationServerKey` with which browsers subscribe." }),
  platforms: Type.Array(Type.Object({ platform, delivery })),
});
