import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { isIP } from "node:net";
import { createSecureContext } from "node:tls";
import type { TlsFiles } from "../config/operation-config.ts";
import { AppError, validationFailed } from "../errors.ts";

const maxBytes = 1 << 20;

/** A certificate chain and its private key, as they are presented; both PEM. */
export interface Certificate {
  cert: string;
  key: string;
  leaf: X509Certificate;
  /** Host names and addresses that it is for. */
  names: string[];
  /** Epoch milliseconds. */
  from: number;
  until: number;
}

/**
 * Reads a certificate and its key, and sees that they belong together.
 * @throws validationFailed that names the file at fault and what to do about it.
 */
export async function readCertificate(files: TlsFiles): Promise<Certificate> {
  const [cert, key] = await Promise.all([readPem(files.cert), readPem(files.key)]);
  const leaf = parseLeaf(files.cert, cert);
  const privateKey = parseKey(files.key, key);
  if (!leaf.checkPrivateKey(privateKey)) {
    throw validationFailed(
      `The key in ${files.key} is not that of the first certificate in ${files.cert}. The server's own stands first in the chain.`,
    );
  }
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    throw validationFailed(`The chain in ${files.cert} cannot be used: not all of its certificates are sound.`, {
      cause,
    });
  }
  return { cert, key, leaf, names: namesOf(leaf), from: Date.parse(leaf.validFrom), until: Date.parse(leaf.validTo) };
}

/** Whether a certificate is for the host of an address. */
export function coversHost({ leaf }: Certificate, url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  return (isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host)) !== undefined;
}

/** A pipe without a writer would be waited for, for ever: opened like this, it is not. */
async function readPem(path: string): Promise<string> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const about = await file.stat();
    if (!about.isFile()) throw validationFailed(`${path} is no file that can be read again and again.`);
    if (about.size > maxBytes) throw validationFailed(`${path} is too large for a certificate or a key.`);
    return await file.readFile("utf8");
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "ENOENT") throw validationFailed(`There is no file ${path}.`, { cause });
    if (code === "EACCES") throw validationFailed(`${path} may not be read by this account.`, { cause });
    throw validationFailed(`${path} cannot be read.`, { cause });
  }
}

function parseLeaf(path: string, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw validationFailed(`${path} holds no certificate in PEM form (-----BEGIN CERTIFICATE-----).`, { cause });
  }
}

function parseKey(path: string, pem: string): KeyObject {
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem)) {
    throw validationFailed(
      `The key in ${path} is locked with a passphrase, and nobody is there to type it when the server starts. ` +
        "Write it without one, readable by the server only: openssl pkey -in locked.pem -out key.pem",
    );
  }
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw validationFailed(`${path} holds no private key in PEM form (-----BEGIN PRIVATE KEY-----).`, { cause });
  }
}

/** `DNS:a.example.com, IP Address:192.0.2.7` without what kind each is; names of other kinds serve no browser. */
function namesOf(leaf: X509Certificate): string[] {
  const listed = [...(leaf.subjectAltName ?? "").matchAll(/(?:DNS|IP Address):([^,\s"]+)/g)];
  return listed.map(([, name]) => name as string);
}
