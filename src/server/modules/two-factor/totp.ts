const stepMs = 30_000;
const totpOptions = { algorithm: "SHA1", digits: 6, period: stepMs / 1000 } as const;
// Names up to this length, in any script, make a QR code of the usual size.
const maxIssuer = 48;
const maxLabel = 64;

/** Loads the library when it is first needed, because most processes never need it. */
export const loadTotp = () => import("otpauth");

export async function makeSecret(): Promise<string> {
  const { Secret } = await loadTotp();
  return new Secret({ size: 20 }).base32;
}

/** Returns a code's time step: the present, previous or next one (RFC 6238, 5.2). Returns null for a wrong code. */
export async function matchStep(secret: string, token: string, timestamp: number): Promise<number | null> {
  // The library throws for characters that are not digits.
  if (!/^\d{6}$/.test(token)) return null;
  const { TOTP } = await loadTotp();
  const delta = new TOTP({ ...totpOptions, secret }).validate({ token, timestamp, window: 1 });
  return delta === null ? null : Math.floor(timestamp / stepMs) + delta;
}

export async function otpauthUri(secret: string, issuer: string, account: string): Promise<string> {
  const { TOTP } = await loadTotp();
  const names = { issuer: nameFor(issuer, maxIssuer), label: nameFor(account, maxLabel) };
  return new TOTP({ ...totpOptions, secret, ...names }).toString();
}

/** Draws a QR code as SVG, dark on white, with the margin that scanners need. */
export async function drawQrCode(text: string): Promise<string> {
  const { encodeQR } = await import("qr");
  const svg = encodeQR(text, "svg", { ecc: "medium", border: 4 });
  return svg.replace(/^<svg[^>]*>/, (start) => `${start}<rect width="100%" height="100%" fill="#fff"/>`);
}

/** Shortens a name and removes colons, because a colon separates issuer and account in the otpauth address. */
function nameFor(text: string, most: number): string {
  const characters = [...text.replaceAll(":", " ").trim()];
  return characters.length <= most ? characters.join("") : `${characters.slice(0, most - 1).join("")}…`;
}
