import { Writable } from "node:stream";
import type { S3Account } from "../../config/backup-config.ts";
import { AppError, notFound, unavailable, validationFailed } from "../../errors.ts";
import { answerWithin, readWithin, SilenceError } from "./answer-timeout.ts";
import { readBackupTime } from "./names.ts";
import { type BackupPlace, formatPlace, noBackupRemedy } from "./place.ts";
import { type BackupStore, headBytes } from "./store.ts";

type S3Place = Extract<BackupPlace, { kind: "s3" }>;

/** What is sent at once: of ten thousand parts at most an object is made, so this allows for 160 GB. */
const partBytes = 16 * 1024 * 1024;
/** How long Bun is given to take back what has gone up in parts, which it does by itself and unseen. */
const takeBackMs = 1000;
/** A call that the store takes and does not answer is given up after this. */
const timeoutMs = 60_000;
/** Bun does not tell what of a part has gone: on a line slower than this, in bytes per millisecond, a part is given up. */
const slowestRate = 128;
/** As many parts are on their way at once. */
const queueSize = 2;

/**
 * Backups as objects of a bucket. An object appears when it is whole: what is larger than a part goes up in parts.
 * @param patience how long the store may be silent, milliseconds; while parts go up, the time that those take comes on top.
 * @throws validationFailed without an account.
 */
export function openS3(place: S3Place, account: S3Account | undefined, patience = timeoutMs): BackupStore {
  if (account === undefined) {
    throw validationFailed("For s3:// set BODEGA_S3_ACCESS_KEY_ID and BODEGA_S3_SECRET_ACCESS_KEY.");
  }
  const { accessKeyId, secretAccessKey, endpoint, region } = account;
  const client = new Bun.S3Client({
    accessKeyId,
    secretAccessKey,
    bucket: place.bucket,
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
  });
  const addressOf = (name = "") => formatPlace({ ...place, name: undefined }, name);
  const attempt = async <T>(what: string, name: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw s3Error(error, what, addressOf(name));
    }
  };
  const ask = <T>(work: Promise<T>, signal?: AbortSignal) => answerWithin(work, patience, signal);
  return {
    create: (name, _id, signal) =>
      attempt("The backup cannot be written to", name, async () => {
        // Asked before the database is copied: most of what can be wrong is wrong with every call.
        await ask(client.list({ prefix: place.prefix, maxKeys: 1 }), signal).catch(unlessMayOnlyWrite);
        // A stream that breaks off ends the upload without an object; Bun's own writer would make one of what it has.
        const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
        const upload = client.write(`${place.prefix}${name}`, new Response(readable), {
          partSize: partBytes,
          queueSize,
          retry: 3,
          type: "application/gzip",
        });
        const { sink, sending, abort } = feedStream(writable.getWriter(), upload, { patience, signal });
        return {
          sink,
          finish: () =>
            attempt("The backup cannot be written to", name, async () => {
              const bytes = await sending(upload);
              // Once all of it is on its way, nothing but removing it again breaks it off.
              if (signal.aborted) await ask(client.delete(`${place.prefix}${name}`));
              signal.throwIfAborted();
              return bytes;
            }),
          async discard() {
            sink.destroy();
            abort();
            // One that was never answered does not end: what has gone up of it stays there.
            await answerWithin(upload, takeBackMs).catch(() => {});
            await Bun.sleep(takeBackMs);
          },
        };
      }),
    list: () =>
      attempt("The backups cannot be listed in", "", async () => {
        const names: string[] = [];
        for (let startAfter: string | undefined; ; ) {
          const page = await ask(
            client.list({ prefix: place.prefix, ...(startAfter !== undefined && { startAfter }) }),
          );
          const keys = (page.contents ?? []).map(({ key }) => key);
          names.push(...keys.map((key) => key.slice(place.prefix.length)));
          startAfter = keys.at(-1);
          if (!page.isTruncated || startAfter === undefined) break;
        }
        return names.filter((name) => readBackupTime(name) !== undefined).sort();
      }),
    head: (name) =>
      attempt("The backup cannot be read from", name, () =>
        ask(client.file(`${place.prefix}${name}`).slice(0, headBytes).bytes()),
      ),
    read: (name) =>
      attempt("The backup cannot be read from", name, async () => {
        const file = client.file(`${place.prefix}${name}`);
        const { size } = await ask(file.stat());
        const explain = (error: unknown) => s3Error(error, "The backup cannot be read from", addressOf(name));
        const stream = readWithin(file.stream(), patience, explain);
        return { stream, bytes: size };
      }),
    remove: (name) =>
      attempt("The old backup cannot be removed:", name, () => ask(client.delete(`${place.prefix}${name}`))),
  };
}

/** An account that can do nothing but write is a good one for backups. */
function unlessMayOnlyWrite(error: { code?: unknown }): void {
  if (error.code !== "AccessDenied") throw error;
}

/** What is written here goes into the upload; its failure, or silence, is that of the writing too. */
function feedStream(
  writer: WritableStreamDefaultWriter<Uint8Array>,
  upload: Promise<number>,
  { patience, signal }: { patience: number; signal: AbortSignal },
) {
  const failed = upload.then(() => new Promise<never>(() => {}));
  failed.catch(() => {});
  let given = 0;
  const sending = <T>(work: Promise<T>) => {
    const onItsWay = Math.min(given, (queueSize + 1) * partBytes);
    return answerWithin(work, patience + onItsWay / slowestRate, signal);
  };
  const sink = new Writable({
    highWaterMark: 1 << 20,
    write(chunk: Buffer, _encoding, done) {
      const write = async () => {
        await writer.ready;
        // A copy, because the stream takes its buffer back while the upload may still wait with it.
        await writer.write(new Uint8Array(chunk));
        given += chunk.length;
      };
      sending(Promise.race([write(), failed])).then(() => done(), done);
    },
    final(done) {
      sending(Promise.race([writer.close(), failed])).then(() => done(), done);
    },
  });
  const abort = () => void writer.abort(new Error("The backup was broken off.")).catch(() => {});
  return { sink, sending, abort };
}

/** Says what the store refused, in its own short word for it; its sentences may name the account. */
function s3Error(error: unknown, what: string, address: string): unknown {
  if (error instanceof AppError) return error;
  if (error instanceof SilenceError) {
    return unavailable(`${what} ${address}: the S3 server does not answer (${error.message}).`);
  }
  const code = String((error as { code?: unknown }).code ?? "unknown");
  if (code === "NoSuchKey") return notFound("backup", address, { remedy: noBackupRemedy });
  const reasons: Record<string, string> = {
    NoSuchBucket: "there is no such bucket",
    AccessDenied: "the account may not do this (AccessDenied)",
    InvalidAccessKeyId: "the access key is unknown there (InvalidAccessKeyId)",
    SignatureDoesNotMatch: "the secret access key is wrong (SignatureDoesNotMatch)",
    ConnectionRefused: "the S3 server cannot be reached",
    FailedToOpenSocket: "the S3 server cannot be reached",
  };
  return unavailable(`${what} ${address}: ${reasons[code] ?? code}.`, { cause: error });
}
