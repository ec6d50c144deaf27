import type { ApnsAccount } from "../../../config/push-config.ts";
import { createDeviceProvider, createPost, type DeviceProviderDeps, readObject, readWord } from "./device-provider.ts";
import type { PushProvider } from "./provider.ts";

const origins = { production: "https://api.push.apple.com", sandbox: "https://api.sandbox.push.apple.com" };
/** Apple accepts a token for an hour. */
const tokenMs = 50 * 60_000;
/** Reasons, with a status other than 403, that concern options of the account. Every message fails with them. */
const aboutTopic = new Set(["BadTopic", "MissingTopic", "TopicDisallowed"]);

export function createApnsProvider(account: ApnsAccount, deps: DeviceProviderDeps): PushProvider {
  const { now, origin = origins[account.isSandbox ? "sandbox" : "production"] } = deps;
  const post = createPost(deps, { protocol: "http2", proxy: false });
  /** Whether a message was accepted. Until then, an unknown token may belong to Apple's other environment. */
  let hasReached = false;
  return createDeviceProvider({
    now,
    issueToken: () => signToken(account, now()),
    async post(device, payload, options) {
      const headers = {
        authorization: `bearer ${options.token}`,
        "apns-topic": account.topic,
        "apns-push-type": "alert",
        "apns-priority": options.urgency === "high" ? "10" : "5",
        "apns-expiration": String(Math.floor(now() / 1000) + options.ttlSeconds),
        ...(payload.tag !== undefined && { "apns-collapse-id": payload.tag }),
      };
      const { title, body, url, data } = payload;
      // Everything outside `aps` is for the app.
      const text = JSON.stringify({ aps: { alert: { title, body }, sound: "default" }, url, data });
      const answer = await post(`${origin}/3/device/${device}`, { headers, body: text, signal: options.signal });
      if (answer.status === 200) hasReached = true;
      return answer;
    },
    explain({ status, text }) {
      const reason = readWord(readObject(text).reason);
      const isGone = status === 410 || (reason === "BadDeviceToken" && hasReached);
      return { reason, isGone, isAboutAccount: status === 403 || aboutTopic.has(reason) };
    },
    describeRejection: (error) => `Apple rejects the account (${error}): check the BODEGA_APNS_ options`,
  });
}

async function signToken({ keyId, teamId, key }: ApnsAccount, now: number) {
  // Only servers that send to devices load this library.
  const { importPKCS8, SignJWT } = await import("jose");
  const text = await new SignJWT({})
    .setProtectedHeader({ alg: "ES256", kid: keyId })
    .setIssuer(teamId)
    .setIssuedAt(Math.floor(now / 1000))
    .sign(await importPKCS8(key, "ES256"));
  return { text, expiresAt: now + tokenMs };
}
