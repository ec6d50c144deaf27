import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import type { AcmeConfig } from "../../config/acme-config.ts";
import { writeWhole } from "../../config/data-dir.ts";
import { parseCertificate } from "../certificate.ts";
import { createPlaceholder } from "./signing-request.ts";

/** Makes sure that there is a file to serve: a self-signed certificate until the first one is obtained. */
export function placeCertificate({ file, names }: AcmeConfig, dataDir: string): void {
  if (!existsSync(file)) writeWhole(dataDir, file, createPlaceholder(names, Date.now()));
}

/** Parses a chain with its key. Throws validationFailed if they cannot be served. */
export const parsePem = (pem: string, { file }: AcmeConfig) =>
  parseCertificate({ cert: pem, key: pem }, { cert: file, key: file });

/** Reads the key of the account at the authority, which is created if it is missing. */
export function readAccount({ accountFile }: AcmeConfig, dataDir: string): KeyObject {
  if (!existsSync(accountFile)) {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    writeWhole(dataDir, accountFile, privateKey.export({ type: "pkcs8", format: "pem" }), true);
  }
  return createPrivateKey(readFileSync(accountFile));
}
