import { type Static, Type } from "@sinclair/typebox";
import { type AppError, type ErrorOptions, validationFailed } from "../errors.ts";
import { attempt } from "../values/attempt.ts";
import { nullable } from "../values/schema.ts";
import { validate } from "../values/validate.ts";

const ManifestSchema = Type.Object({
  /** The version of the format. It changes when older programs cannot read the archive. */
  format: Type.Literal(1),
  created_at: Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT[\\d:.]{8,12}Z$" }),
  version: Type.String({ pattern: "^[\\x21-\\x7e]{1,100}$" }),
  source: Type.Union([Type.Literal("file"), Type.Literal("server")]),
  /** `begun_at` is the time at which the database was created. It identifies the database. */
  database: Type.Object({ bytes: Type.Integer(), sha256: Type.String(), begun_at: nullable(Type.String()) }),
  schema: Type.Array(Type.Object({ name: Type.String(), hash: Type.String() })),
  stores: Type.Integer(),
});
export type Manifest = Static<typeof ManifestSchema>;

export function parseManifest(text: string): Manifest {
  const manifest = attempt(() => JSON.parse(text));
  if (typeof manifest?.format === "number" && manifest.format !== 1) {
    throw damaged(`The backup has format ${manifest.format} of a newer version of Bodega. Use that version.`);
  }
  const valid = attempt(() => validate(ManifestSchema, manifest, "manifest"));
  if (valid === undefined) throw damagedBackup("its manifest cannot be read");
  return valid;
}

/** Returns the error for a damaged archive. The exit code is 1, not 2, because the command line was correct. */
export function damaged(message: string, options: Pick<ErrorOptions, "remedy" | "cause"> = {}): AppError {
  return validationFailed(message, { exit: 1, ...options });
}

export function damagedBackup(reason: string): AppError {
  return damaged(`The file is not a Bodega backup or is damaged: ${reason}.`);
}

export const replicaDamage = "The replica is damaged: ";

export function damagedReplica(reason: string, remedy?: string): AppError {
  return damaged(`${replicaDamage}${reason}.`, { remedy });
}

export function foreignObject(reason: string): AppError {
  const followUp = "If the replica needs it, its server makes a new snapshot within an hour.";
  return damagedReplica(reason, `Delete this object, and check who can write there. ${followUp}`);
}
