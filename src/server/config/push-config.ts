import { createPrivateKey, type KeyObject } from "node:crypto";
import { attempt } from "../values/attempt.ts";
import { type Environment, invalidOption, matching, onOrOff, parseUrl, readVariable } from "./environment.ts";

export type PushPlatform = "web" | "ios" | "android";

export interface PushOptions {
  /** Allows http, and endpoints on this machine or a private network, for development and tests. */
  allowPrivate: boolean;
  platforms: readonly PushPlatform[];
}

/** A Google service account for Firebase Cloud Messaging; its key is RSA, as PEM (PKCS #8). */
export type FcmAccount = NonNullable<ReturnType<typeof readFcm>>;

/** A key of Apple's developer programme (P-256, as PEM), and the bundle id of its app. */
export type ApnsAccount = NonNullable<ReturnType<typeof readApns>>;

export type PushProviders = Partial<ReturnType<typeof readPushProviders>>;

const fcmName = "BODEGA_FCM_CREDENTIALS";
const apnsForms = {
  BODEGA_APNS_KEY_ID: { form: /^[A-Z0-9]{10}$/, text: "the ten letters and digits of the key's id" },
  BODEGA_APNS_TEAM_ID: { form: /^[A-Z0-9]{10}$/, text: "the ten letters and digits of the team's id" },
  BODEGA_APNS_TOPIC: { form: /^[A-Za-z0-9][A-Za-z0-9.-]{0,154}$/, text: "the app's bundle id, as com.example.shop" },
} as const;

export const defaultPushOptions: PushOptions = { allowPrivate: false, platforms: ["web"] };

export function pushOptions(config: { allowPrivatePush: boolean; pushProviders: PushProviders }): PushOptions {
  const { fcm, apns } = config.pushProviders;
  const platforms: PushPlatform[] = ["web", ...(apns ? ["ios" as const] : []), ...(fcm ? ["android" as const] : [])];
  return { allowPrivate: config.allowPrivatePush, platforms };
}

export function readPushProviders(env: Environment) {
  return { fcm: readFcm(env), apns: readApns(env) };
}

function readFcm(env: Environment) {
  const text = readVariable(env, fcmName);
  if (text === undefined) return undefined;
  const account = attempt(() => JSON.parse(text));
  if (typeof account !== "object" || account === null)
    throw invalidOption(fcmName, "must be the JSON of a Google service account");
  const field = (name: string): string => {
    const value = account[name];
    if (typeof value === "string" && value !== "") return value;
    throw invalidOption(fcmName, `must be the JSON of a Google service account; it has no ${name}`);
  };
  const projectId = field("project_id");
  if (!/^[a-z0-9][a-z0-9.:-]{0,99}$/.test(projectId)) throw invalidOption(fcmName, "has an invalid project_id");
  const pem = field("private_key");
  const key = attempt(() => createPrivateKey(pem));
  if (key?.asymmetricKeyType !== "rsa") {
    throw invalidOption(fcmName, "has a private_key that is not an RSA key in PEM form");
  }
  const tokenUri = field("token_uri");
  if (!parseUrl(tokenUri, ["https:"])) throw invalidOption(fcmName, "has a token_uri that is not an https URL");
  const { private_key_id: keyId } = account;
  const privateKeyId = typeof keyId === "string" ? keyId : undefined;
  return { projectId, clientEmail: field("client_email"), privateKey: toPem(key), privateKeyId, tokenUri };
}

function readApns(env: Environment) {
  const key = readVariable(env, "BODEGA_APNS_KEY");
  const isSandbox = onOrOff({ value: readVariable(env, "BODEGA_APNS_SANDBOX"), source: "BODEGA_APNS_SANDBOX" });
  if (key === undefined) {
    const given = Object.keys(apnsForms).find((name) => readVariable(env, name) !== undefined);
    if (given === undefined) return undefined;
    throw invalidOption("BODEGA_APNS_KEY", `must be the content of the key's .p8 file, because ${given} is set`);
  }
  const part = (name: keyof typeof apnsForms): string => {
    const { form, text } = apnsForms[name];
    const value = matching({ value: readVariable(env, name), source: name }, form, `must be ${text}`);
    if (value === undefined) throw invalidOption(name, `must be ${text}, because BODEGA_APNS_KEY is set`);
    return value;
  };
  // Variables that hold one line only often contain line ends as \n.
  const parsed = attempt(() => createPrivateKey(key.replaceAll("\\n", "\n")));
  if (parsed?.asymmetricKeyDetails?.namedCurve !== "prime256v1") {
    throw invalidOption("BODEGA_APNS_KEY", "must be the content of the key's .p8 file");
  }
  const [keyId, teamId] = [part("BODEGA_APNS_KEY_ID"), part("BODEGA_APNS_TEAM_ID")];
  return { key: toPem(parsed), keyId, teamId, topic: part("BODEGA_APNS_TOPIC"), isSandbox };
}

function toPem(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }) as string;
}
