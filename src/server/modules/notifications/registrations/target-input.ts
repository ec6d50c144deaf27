import { ECDH } from "node:crypto";
import { hostOf, isPublicHost } from "../../../delivery/outbound.ts";
import { invalidField } from "../../../errors.ts";
import { attempt } from "../../../values/attempt.ts";
import type { Subscription, Target } from "../providers/provider.ts";
import type { PushPlatform } from "../table.ts";
import type { RegistrationPatch } from "./registration-model.ts";

const maxEndpoint = 2000;
/** The ports of push services, as URLs have them: the empty text is port 443. */
const ports: readonly string[] = ["", "8443"];

const tokenForms = {
  // Apple's tokens are 32 bytes in hex today, and may become longer, so up to 100 bytes are accepted.
  ios: { form: /^(?:[0-9A-Fa-f]{2}){32,100}$/, expects: "must be 64 to 200 hex digits" },
  // The token consists of the id of an installation, a colon, and more than a hundred characters.
  android: {
    form: /^(?=.{100,512}$)[\w-]{8,64}:[\w:-]+$/,
    expects: "must be an FCM registration token of at most 512 characters, such as c1Zb…:APA91b…",
  },
};

/**
 * Returns a target in canonical form. The IP addresses of its host are checked when a message is sent. Errors:
 * validationFailed.
 * @param allowPrivate allows http, any port, and addresses of this machine and private networks.
 */
export function parseTarget(
  platform: PushPlatform,
  given: Pick<RegistrationPatch, "subscription" | "token">,
  allowPrivate: boolean,
): Target {
  const { subscription, token } = given;
  if (platform === "web") {
    if (token !== undefined) throw invalidField("token", "is for ios and android; browsers have a subscription");
    if (!subscription) throw invalidField("subscription", "is required for the platform web");
    return parseSubscription(subscription, allowPrivate);
  }
  if (subscription) throw invalidField("subscription", "is for the platform web; devices have a token");
  if (token === undefined) throw invalidField("token", `is required for the platform ${platform}`);
  const { form, expects } = tokenForms[platform];
  if (!form.test(token)) throw invalidField("token", expects);
  return { token: platform === "ios" ? token.toLowerCase() : token };
}

function parseSubscription({ endpoint, keys }: Subscription, allowPrivate: boolean): Subscription {
  const p256dh = parseBytes("p256dh", keys.p256dh, 65);
  const auth = parseBytes("auth", keys.auth, 16);
  const isPoint = p256dh[0] === 4 && attempt(() => ECDH.convertKey(p256dh, "prime256v1")) !== undefined;
  if (!isPoint) throw invalidField("subscription.keys.p256dh", "must be a public key of the curve P-256");
  return {
    endpoint: parseEndpoint(endpoint, allowPrivate),
    keys: { p256dh: p256dh.toString("base64url"), auth: auth.toString("base64url") },
  };
}

function parseEndpoint(given: string, allowPrivate: boolean): string {
  const refuse = (message: string) => invalidField("subscription.endpoint", message);
  const isPlain = /^https?:\/\/[\x21-\x7e]+$/i.test(given) && !given.includes("\\");
  const url = isPlain && given.length <= maxEndpoint && URL.canParse(given) ? new URL(given) : undefined;
  if (!url) throw refuse(`must be an https address of at most ${maxEndpoint} characters`);
  if (url.protocol === "http:" && !allowPrivate) throw refuse("must be an https address");
  if (!ports.includes(url.port) && !allowPrivate) throw refuse("must use port 443 or 8443");
  if (url.username !== "" || url.password !== "") throw refuse("must not contain a user name or password");
  if (given.includes("#")) throw refuse("must not contain #");
  if (!allowPrivate && !isPublicHost(hostOf(url))) throw refuse("must be an address on the public internet");
  return url.href;
}

function parseBytes(name: "p256dh" | "auth", text: string, length: number): Buffer {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length === length && /^[\w+/-]+={0,2}$/.test(text)) return bytes;
  throw invalidField(`subscription.keys.${name}`, `must be base64url of ${length} bytes`);
}
