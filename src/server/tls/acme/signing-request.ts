import { generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import type { AcmeConfig } from "../../config/acme-config.ts";
import { writeWhole } from "../../config/data-dir.ts";

const placeholderMs = 30 * 86_400_000;

const oids = {
  commonName: [0x55, 0x04, 0x03],
  alternativeNames: [0x55, 0x1d, 0x11],
  authorityKey: [0x55, 0x1d, 0x23],
  extensionRequest: [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x0e],
  ecdsaWithSha256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
};

/** Creates a P-256 key in PEM, and the request (PKCS #10, in base64url) for a certificate with these names. */
export function createSigningRequest(names: readonly string[]) {
  const { privateKey, publicKey, pem } = createKey();
  const attribute = sequence(oid(oids.extensionRequest), der(0x31, extensionsOf(names)));
  const body = sequence(integer(0), sequence(), publicKey, der(0xa0, attribute));
  return { key: pem, request: signed(body, privateKey).toString("base64url") };
}

/** Creates a self-signed certificate and its key in PEM, to serve until the first certificate is obtained. */
export function createPlaceholder(names: readonly string[], now: number): string {
  const { privateKey, publicKey, pem } = createKey();
  const label = der(0x0c, Buffer.from("Bodega, waiting for a certificate"));
  const issuer = sequence(der(0x31, sequence(oid(oids.commonName), label)));
  const [version, serial] = [der(0xa0, integer(2)), integer(1, ...randomBytes(15))];
  const validity = sequence(time(now), time(now + placeholderMs));
  const extensions = der(0xa3, extensionsOf(names));
  const body = sequence(version, serial, algorithm, issuer, validity, issuer, publicKey, extensions);
  return new X509Certificate(signed(body, privateKey)).toString() + pem;
}

/** Writes a self-signed certificate to the file of the certificate, unless that file exists. */
export function placeCertificate({ file, names, dataDir }: AcmeConfig): void {
  if (!existsSync(file)) writeWhole(dataDir, file, createPlaceholder(names, Date.now()));
}

/** Returns the id of a certificate for renewal (RFC 9773, section 4.1); undefined if it names no issuer's key. */
export function renewalIdOf({ raw, serialNumber }: X509Certificate): string | undefined {
  const id = oid(oids.authorityKey);
  // After the extension's id come an octet string and a sequence, of two bytes each, and then the id of the key.
  const at = raw.indexOf(id) + id.length + 4;
  if (raw.indexOf(id) < 0 || raw[at] !== 0x80) return undefined;
  const key = raw.subarray(at + 2, at + 2 + (raw[at + 1] as number));
  // DER puts a zero byte before a number whose first bit is set.
  const serial = Buffer.from(/^[89A-F]/.test(serialNumber) ? `00${serialNumber}` : serialNumber, "hex");
  return `${key.toString("base64url")}.${serial.toString("base64url")}`;
}

function createKey() {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  return { privateKey, publicKey: publicKey.export({ type: "spki", format: "der" }), pem };
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.of(tag, ...length), content]);
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const oid = (bytes: readonly number[]) => der(0x06, Buffer.from(bytes));
const integer = (...bytes: number[]) => der(0x02, Buffer.from(bytes));
const time = (ms: number) => der(0x17, Buffer.from(new Date(ms).toISOString().replace(/^..|[-T:]|\.\d+/g, "")));
const algorithm = sequence(oid(oids.ecdsaWithSha256));

function extensionsOf(names: readonly string[]): Buffer {
  const list = sequence(...names.map((name) => der(0x82, Buffer.from(name))));
  return sequence(sequence(oid(oids.alternativeNames), der(0x04, list)));
}

function signed(body: Buffer, key: KeyObject): Buffer {
  return sequence(body, algorithm, der(0x03, Buffer.of(0), sign("sha256", body, key)));
}
