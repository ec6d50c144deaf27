import type { Config } from "../../config/config.ts";
import type { MediaStore } from "../../context.ts";
import { openBoundedStorage } from "../../object-store/bounded-storage.ts";

/** Opens the bucket for new pictures; undefined stores them in the database. */
export function openMediaBucket({ media, s3 }: Pick<Config, "media" | "s3">): MediaStore | undefined {
  return media === undefined ? undefined : openBoundedStorage(media, { s3 }, "pictures");
}
