import { readS3Config } from "./backup-config.ts";
import { invalidOption } from "./environment.ts";
import type { Options } from "./options.ts";

/** Where pictures go in S3: the bucket, the beginning of their keys, and the account. */
export type MediaBucket = NonNullable<ReturnType<typeof readMediaConfig>["media"]>;

/** Reads where new pictures are stored; undefined is the database. */
export function readMediaConfig(options: Options) {
  const { value, source } = options.get("BODEGA_MEDIA");
  if (value === undefined || value === "database") return { media: undefined };
  const [, bucket, path = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w!.*'()/-]*))?$/.exec(value) ?? [];
  if (bucket === undefined) throw invalidOption(source, "must be database, s3://bucket or s3://bucket/prefix");
  const { s3 } = readS3Config(options);
  if (s3 === undefined) throw invalidOption(source, "needs BODEGA_S3_ACCESS_KEY_ID and BODEGA_S3_SECRET_ACCESS_KEY");
  return { media: { bucket, prefix: path.replace(/\/*$/, "").replace(/.$/, "$&/"), account: s3 } };
}
