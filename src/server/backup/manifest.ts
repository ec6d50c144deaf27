import type { AppError } from "../errors.ts";
import { unsound } from "./restore/unsound.ts";

/** What a backup says of itself, as its first part `manifest.json`. */
export interface Manifest {
  /** Of the container; raised when an older program could not read it. */
  format: 1;
  /** RFC 3339. */
  created_at: string;
  /** The program's that made it. */
  version: string;
  /** Whether the database was a file or a libSQL server's. */
  source: "file" | "server";
  /** Of `bodega.db` in the container; `begun_at` is when the database itself was made, and tells databases apart. */
  database: { bytes: number; sha256: string; begun_at: string | null };
  /** The migrations that the database has, oldest first. */
  schema: AppliedStep[];
  /** Of the key that seals second factors, mail and the like; it says nothing of the key itself. */
  key_fingerprint: string | null;
  key_included: boolean;
  stores: number;
}

/** One migration that a database has; `hash` is the SHA-256 of its text. */
export interface AppliedStep {
  name: string;
  hash: string;
}

/**
 * Reads a manifest.
 * @throws validationFailed when it is none, or that of a newer program's format.
 */
export function parseManifest(text: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw noManifest();
  }
  const manifest = value as Manifest;
  if (typeof manifest?.format !== "number") throw noManifest();
  if (manifest.format !== 1) {
    throw unsound(`The backup has format ${manifest.format}, of a newer version of Bodega. Use that version.`);
  }
  if (!isManifest(manifest)) throw noManifest();
  return manifest;
}

function isManifest(manifest: Manifest): boolean {
  const { created_at, version, source, database, schema, key_fingerprint, key_included, stores } = manifest;
  return (
    isTime(created_at) &&
    typeof version === "string" &&
    /^[\x21-\x7e]{1,100}$/.test(version) &&
    (source === "file" || source === "server") &&
    Number.isSafeInteger(database?.bytes) &&
    /^[0-9a-f]{64}$/.test(database.sha256) &&
    database.bytes > 0 &&
    isTextOrNull(database.begun_at) &&
    Array.isArray(schema) &&
    schema.every((step) => typeof step?.name === "string" && typeof step.hash === "string") &&
    isTextOrNull(key_fingerprint) &&
    typeof key_included === "boolean" &&
    Number.isSafeInteger(stores) &&
    stores >= 0
  );
}

/** Dates are read from other texts as well, but this one is printed as it stands. */
function isTime(value: unknown): boolean {
  return typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z$/.test(value) && !Number.isNaN(Date.parse(value));
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === "string";
}

function noManifest(): AppError {
  return unsound("The file is no backup of Bodega's, or a damaged one: its manifest cannot be read.");
}
