import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";

/** A self-signed certificate and its key, in PEM. */
export interface MadeCertificate {
  cert: string;
  key: string;
  /** The SHA-256 of the certificate, in the form in which Node reports that of a peer. */
  fingerprint: string;
}

const dayMs = 86_400_000;

const rsaAlgorithm = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b];
const ecAlgorithm = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];

/**
 * Creates a certificate with a new key: elliptic curve, or RSA on request. Times are epoch milliseconds. By default,
 * the certificate is valid from yesterday for 90 days. An authority passes its own name and key, and the key of the
 * subject.
 */
export function makeCertificate({
  names = ["localhost", "127.0.0.1"],
  from = Date.now() - dayMs,
  until = Date.now() + 90 * dayMs,
  isRsa = false,
  subject: subjectKey,
  issuer,
}: {
  names?: string[];
  from?: number;
  until?: number;
  isRsa?: boolean;
  subject?: KeyObject;
  issuer?: { name: string; key: KeyObject };
} = {}): MadeCertificate {
  const { privateKey, publicKey } = isRsa
    ? generateKeyPairSync("rsa", { modulusLength: 2048 })
    : generateKeyPairSync("ec", { namedCurve: "P-256" });
  const nameOf = (name: string) => sequence(set(sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(name)))));
  const subject = nameOf(names[0] ?? "nobody");
  const algorithm = isRsa ? sequence(oid(...rsaAlgorithm), der(0x05)) : sequence(oid(...ecAlgorithm));
  const alternatives = names.map((name) =>
    isIPv4(name) ? der(0x87, Buffer.from(name.split(".").map(Number))) : der(0x82, Buffer.from(name)),
  );
  const extensions = sequence(
    extension(oid(0x55, 0x1d, 0x13), sequence(der(0x01, Buffer.from([0xff])))),
    ...(issuer ? [extension(oid(0x55, 0x1d, 0x23), sequence(der(0x80, Buffer.from(issuer.name))))] : []),
    ...(names.length > 0 ? [extension(oid(0x55, 0x1d, 0x11), sequence(...alternatives))] : []),
  );
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    issuer ? nameOf(issuer.name) : subject,
    sequence(time(from), time(until)),
    subject,
    (subjectKey ?? publicKey).export({ type: "spki", format: "der" }),
    der(0xa3, extensions),
  );
  const signature = sign("sha256", body, issuer?.key ?? privateKey);
  const whole = sequence(body, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    fingerprint: (createHash("sha256").update(whole).digest("hex").toUpperCase().match(/../g) ?? []).join(":"),
  };
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const set = (...parts: Buffer[]) => der(0x31, ...parts);
const oid = (...bytes: number[]) => der(0x06, Buffer.from(bytes));
const extension = (id: Buffer, value: Buffer) => sequence(id, der(0x04, value));

/** Encodes a time. The standard requires two digits for years before 2050. */
function time(epochMs: number): Buffer {
  const digits = new Date(epochMs).toISOString().replace(/[-T:]|\.\d+/g, "");
  return Number(digits.slice(0, 4)) < 2050 ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits));
}
