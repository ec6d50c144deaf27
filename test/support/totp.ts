import { HOTP, Secret } from "otpauth";

/** Returns the code of a secret at a time, as an authenticator shows it. */
export async function codeAt(secret: string, epochMs: number): Promise<string> {
  const counter = Math.floor(epochMs / 30_000);
  return HOTP.generate({ algorithm: "SHA1", digits: 6, secret: Secret.fromBase32(secret), counter });
}
