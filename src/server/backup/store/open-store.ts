import { Writable } from "node:stream";
import type { Config } from "../../config/config.ts";
import { openFolder } from "./folder-store.ts";
import { type BackupPlace, formatPlace } from "./place.ts";
import { openS3 } from "./s3-store.ts";
import type { BackupStore } from "./store.ts";

/**
 * Opens a place.
 * @param config with `dataDir` where backups are made: what lies within it belongs to its owner, whoever makes it.
 * @param stdout where a backup goes that is written to standard output.
 * @throws validationFailed when it is an S3 place and there are no credentials for it.
 */
export function openStore(
  place: BackupPlace,
  config: Pick<Config, "s3"> & { dataDir?: string },
  stdout?: Writable,
): BackupStore {
  if (place.kind === "s3") return openS3(place, config.s3);
  if (place.kind === "folder") return openFolder(place.path, config.dataDir);
  return openStandardOutput(stdout as Writable, formatPlace(place));
}

function openStandardOutput(stdout: Writable, place: string): BackupStore {
  const none = () => Promise.reject(new Error(`${place} keeps nothing.`));
  let bytes = 0;
  return {
    async create() {
      const sink = new Writable({
        write(chunk: Buffer, _encoding, done) {
          bytes += chunk.length;
          stdout.write(chunk, done);
        },
      });
      return { sink, finish: async () => bytes, discard: async () => {} };
    },
    list: async () => [],
    head: none,
    read: none,
    remove: none,
  };
}
