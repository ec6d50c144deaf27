import { timingSafeEqual } from "node:crypto";

const stepMs = 30_000;
const totpOptions = { algorithm: "SHA1", digits: 6, period: stepMs / 1000 } as const;
// Names of this length fit a QR code of a common size in any script.
const maxIssuer = 48;
const maxLabel = 64;

/** Most servers never need the library, and no command does. */
export const loadTotp = () => import("otpauth");

export async function makeSecret(): Promise<string> {
  const { Secret } = await loadTotp();
  return new Secret({ size: 20 }).base32;
}

/**
 * One of the current step and its neighbours (RFC 6238, section 5.2), the latest if several match; null if none does.
 */
export async function matchStep(secret: string, digits: string, epochMs: number): Promise<number | null> {
  const { HOTP, Secret } = await loadTotp();
  const key = Secret.fromBase32(secret);
  const given = Buffer.from(digits);
  const present = Math.floor(epochMs / stepMs);
  let found: number | null = null;
  for (const step of [present - 1, present, present + 1]) {
    const code = Buffer.from(HOTP.generate({ ...totpOptions, secret: key, counter: step }));
    if (code.length === given.length && timingSafeEqual(code, given)) found = step;
  }
  return found;
}

export async function otpauthUri(secret: string, issuer: string, account: string): Promise<string> {
  const { TOTP } = await loadTotp();
  return new TOTP({
    ...totpOptions,
    secret,
    issuer: nameFor(issuer, maxIssuer),
    label: nameFor(account, maxLabel),
  }).toString();
}

/** Draws dark on white, with the quiet zone that scanners need. */
export async function drawQrCode(text: string): Promise<string> {
  const { encodeQR } = await import("qr");
  const svg = encodeQR(text, "svg", { ecc: "medium", border: 4 });
  return svg.replace(/^<svg[^>]*>/, (start) => `${start}<rect width="100%" height="100%" fill="#fff"/>`);
}

/** A colon separates the two names in the address, so neither may contain one. */
function nameFor(text: string, most: number): string {
  const characters = [...text.replaceAll(":", " ").trim()];
  return characters.length <= most ? characters.join("") : `${characters.slice(0, most - 1).join("")}…`;
}
