import { HOTP, Secret } from "otpauth";

/** The code of a secret at a time, as the user's app shows it. */
export async function codeAt(secret: string, epochMs: number): Promise<string> {
  const counter = Math.floor(epochMs / 30_000);
  return HOTP.generate({ algorithm: "SHA1", digits: 6, secret: Secret.fromBase32(secret), counter });
}
