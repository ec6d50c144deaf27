import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { isIP } from "node:net";
import { createSecureContext } from "node:tls";
import type { TlsFiles } from "../config/server-config.ts";
import { AppError, errnoOf, validationFailed } from "../errors.ts";

const maxBytes = 1 << 20;

/** A certificate chain and its private key; both PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

/** A key pair and the details of its first certificate. */
export interface Certificate extends KeyPair {
  leaf: X509Certificate;
  /** Host names and IP addresses that the certificate covers. */
  names: string[];
  /** Epoch milliseconds. */
  from: number;
  until: number;
}

/**
 * Reads a certificate and its key, and verifies that they belong together.
 * @throws validationFailed naming the file and what to do about it.
 */
export async function readCertificate(files: TlsFiles): Promise<Certificate> {
  const [{ cert, leaf }, key] = await Promise.all([readChain(files.cert), readPem(files.key)]);
  const privateKey = parseKey(files.key, key);
  if (!leaf.checkPrivateKey(privateKey)) {
    throw validationFailed(
      `The key in ${files.key} does not match the first certificate in ${files.cert}. Put the server's own certificate first in the chain.`,
    );
  }
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    throw validationFailed(`The chain in ${files.cert} cannot be used: one of its certificates is damaged.`, {
      cause,
    });
  }
  return { cert, key, leaf, names: namesOf(leaf), from: Date.parse(leaf.validFrom), until: Date.parse(leaf.validTo) };
}

/** Reads a chain and its first certificate. Errors: validationFailed naming the file. */
export async function readChain(path: string): Promise<{ cert: string; leaf: X509Certificate }> {
  const cert = await readPem(path);
  try {
    return { cert, leaf: new X509Certificate(cert) };
  } catch (cause) {
    const remedy = "Name the file of the certificate chain, such as fullchain.pem, with --tls-cert.";
    throw validationFailed(`${path} contains no PEM certificate (-----BEGIN CERTIFICATE-----).`, { cause, remedy });
  }
}

export function coversHost({ leaf }: Certificate, url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  return (isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host)) !== undefined;
}

/** Opened non-blocking: reading a named pipe without a writer would hang. */
async function readPem(path: string): Promise<string> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) throw validationFailed(`${path} is not a regular file.`);
    if (stats.size > maxBytes) throw validationFailed(`${path} is too large for a certificate or a key.`);
    return await file.readFile("utf8");
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    if (errnoOf(cause) === "ENOENT") throw validationFailed(`File ${path} does not exist.`, { cause });
    if (errnoOf(cause) === "EACCES") throw validationFailed(`${path} cannot be read: permission denied.`, { cause });
    throw validationFailed(`${path} cannot be read (${errnoOf(cause)}).`, { cause });
  }
}

function parseKey(path: string, pem: string): KeyObject {
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem)) {
    throw validationFailed(
      `The key in ${path} has a passphrase, which the server cannot enter. ` +
        `Remove the passphrase: openssl pkey -in ${path} -out key.pem`,
    );
  }
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    const remedy = "Name the file of the certificate's private key, such as privkey.pem, with --tls-key.";
    throw validationFailed(`${path} contains no PEM private key (-----BEGIN PRIVATE KEY-----).`, { cause, remedy });
  }
}

/** The DNS names and IP addresses of `DNS:a.example.com, IP Address:192.0.2.7`. */
function namesOf(leaf: X509Certificate): string[] {
  const listed = [...(leaf.subjectAltName ?? "").matchAll(/(?:DNS|IP Address):([^,\s"]+)/g)];
  return listed.map(([, name]) => name as string);
}
