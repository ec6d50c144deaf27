import { createPrivateKey, type KeyObject } from "node:crypto";
import { type Environment, invalidSetting, readVariable } from "./environment.ts";

/** A service account of Google, as far as sending by Firebase Cloud Messaging needs it. */
export interface FcmAccount {
  projectId: string;
  clientEmail: string;
  /** RSA, as PEM (PKCS #8). */
  privateKey: string;
  privateKeyId: string | undefined;
  /** Where access tokens are had. */
  tokenUri: string;
}

/** A key of Apple's developer programme, and the app whose devices it reaches. */
export interface ApnsAccount {
  /** P-256, as PEM (PKCS #8): what the `.p8` file holds. */
  key: string;
  keyId: string;
  teamId: string;
  /** The app's bundle id. */
  topic: string;
  /** Whether devices are reached by Apple's service for apps under development. */
  isSandbox: boolean;
}

/** The accounts at the services that reach devices which are no browsers; without one, nothing is sent there. */
export interface PushProviders {
  fcm?: FcmAccount;
  apns?: ApnsAccount;
}

const fcmName = "BODEGA_FCM_CREDENTIALS";
const apnsForms = {
  BODEGA_APNS_KEY_ID: /^[A-Z0-9]{10}$/,
  BODEGA_APNS_TEAM_ID: /^[A-Z0-9]{10}$/,
  BODEGA_APNS_TOPIC: /^[A-Za-z0-9][A-Za-z0-9.-]{0,154}$/,
} as const;
const apnsExpected = {
  BODEGA_APNS_KEY_ID: "the ten letters and digits of the key's id",
  BODEGA_APNS_TEAM_ID: "the ten letters and digits of the team's id",
  BODEGA_APNS_TOPIC: "the app's bundle id, such as com.example.shop",
} as const;
type ApnsName = keyof typeof apnsForms;

/**
 * The accounts that the environment names, each variable also in its `…_FILE` form.
 * @throws validationFailed naming the variable that is missing or at fault; nothing of a secret is repeated.
 */
export function readPushProviders(env: Environment): PushProviders {
  const fcm = readFcm(env);
  const apns = readApns(env);
  return { ...(fcm && { fcm }), ...(apns && { apns }) };
}

function readFcm(env: Environment): FcmAccount | undefined {
  const text = readVariable(env, fcmName);
  if (text === undefined) return undefined;
  const account = parseObject(text);
  if (!account) throw invalidSetting(fcmName, "must be the JSON of a Google service account");
  const part = (name: string): string => {
    const value = account[name];
    if (typeof value === "string" && value !== "") return value;
    throw invalidSetting(fcmName, `must be the JSON of a Google service account; it has no ${name}`);
  };
  const projectId = part("project_id");
  if (!/^[a-z0-9][a-z0-9.:-]{0,99}$/.test(projectId)) throw invalidSetting(fcmName, "has no sound project_id");
  const key = parseKey(part("private_key"));
  if (key?.asymmetricKeyType !== "rsa") {
    throw invalidSetting(fcmName, "has a private_key that is no RSA key in PEM form");
  }
  const privateKey = toPem(key);
  const tokenUri = part("token_uri");
  if (!URL.canParse(tokenUri) || new URL(tokenUri).protocol !== "https:") {
    throw invalidSetting(fcmName, "has a token_uri that is no https address");
  }
  const { private_key_id: keyId } = account;
  const privateKeyId = typeof keyId === "string" ? keyId : undefined;
  return { projectId, clientEmail: part("client_email"), privateKey, privateKeyId, tokenUri };
}

function readApns(env: Environment): ApnsAccount | undefined {
  const key = readVariable(env, "BODEGA_APNS_KEY");
  const others = Object.keys(apnsForms) as ApnsName[];
  const sandbox = readVariable(env, "BODEGA_APNS_SANDBOX");
  if (sandbox !== undefined && sandbox !== "0" && sandbox !== "1") {
    throw invalidSetting("BODEGA_APNS_SANDBOX", "must be 1, for apps under development, or 0");
  }
  if (key === undefined) {
    const given = others.find((name) => readVariable(env, name) !== undefined);
    if (given === undefined) return undefined;
    throw invalidSetting("BODEGA_APNS_KEY", `must hold the key's .p8 file, since ${given} is set`);
  }
  const part = (name: ApnsName): string => {
    const value = readVariable(env, name);
    const expected = apnsExpected[name];
    if (value === undefined) throw invalidSetting(name, `must be ${expected}, since BODEGA_APNS_KEY is set`);
    if (!apnsForms[name].test(value)) throw invalidSetting(name, `must be ${expected}`);
    return value;
  };
  // Where a value can have one line only, line ends are often written out.
  const parsed = parseKey(key.replaceAll("\\n", "\n"));
  if (parsed?.asymmetricKeyDetails?.namedCurve !== "prime256v1") {
    throw invalidSetting("BODEGA_APNS_KEY", "must be what the key's .p8 file holds");
  }
  return {
    key: toPem(parsed),
    keyId: part("BODEGA_APNS_KEY_ID"),
    teamId: part("BODEGA_APNS_TEAM_ID"),
    topic: part("BODEGA_APNS_TOPIC"),
    isSandbox: sandbox === "1",
  };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function parseKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

function toPem(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }) as string;
}
