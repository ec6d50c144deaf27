import { AppError, bodyTooLarge, malformedRequest, unavailable, unsupportedMediaType } from "../errors.ts";
import type { Upload } from "../http/route.ts";
import { formatBytes, KiB, MiB } from "../values/bytes.ts";
import { listWords } from "../values/text.ts";
import { freeTurn } from "../values/turns.ts";
import { type Body, collectInTime } from "./body.ts";

/** Memory for uploads until they are answered: what is left, and the shares of the stores. One for each process. */
export interface UploadMemory {
  left: number;
  held: Map<string, number>;
}

export const createUploadMemory = (): UploadMemory => ({ left: 128 * MiB, held: new Map() });

/** Time to send an upload, in milliseconds: enough for 20 MiB over 2 Mbit/s. */
const maxMs = 90_000;
/** Of a form, apart from its file. */
const formBytes = 16 * KiB;

/**
 * Reads a file that is the body, or the only field of a form. `release` must be called when the request is answered.
 * Never throws, as `readBody`.
 * @param store a store holds at most as much memory as it leaves to the others, so that none can use up all of it.
 */
export async function readUpload(request: Request, upload: Upload, memory: UploadMemory, store: string): Promise<Body> {
  const held = holdShare(memory, store);
  const { release } = held;
  const type = request.headers.get("content-type") ?? "";
  const isForm = /^multipart\/form-data *;/i.test(type);
  const isEncoded = !/^(identity)?$/i.test(request.headers.get("content-encoding") ?? "");
  try {
    const limits = { bytes: upload.bytes + (isForm ? formBytes : 0), ms: maxMs };
    const bytes = await collectInTime(request, limits, held);
    const isKnown = isForm || upload.types.includes(type.split(";")[0]?.trim().toLowerCase() ?? "");
    if (!isKnown || isEncoded) return { error: unsupported(upload), release };
    const file = isForm ? await readForm(request, type, bytes, store) : bytes;
    if (file.length > upload.bytes) throw bodyTooLarge(`The file is larger than ${formatBytes(upload.bytes)}.`);
    if (file.length === 0) throw malformedRequest("The file is empty.");
    return { value: { file }, release };
  } catch (error) {
    if (error instanceof AppError) return { error, release };
    return { error: malformedRequest("The body could not be read completely.", { cause: error }), release };
  }
}

function holdShare(memory: UploadMemory, store: string) {
  let own = 0;
  let isReleased = false;
  const change = (bytes: number) => {
    const share = (memory.held.get(store) ?? 0) + bytes;
    if (share === 0) memory.held.delete(store);
    else memory.held.set(store, share);
    memory.left -= bytes;
    own += bytes;
  };
  return {
    add(bytes: number) {
      const share = memory.held.get(store) ?? 0;
      if (isReleased || share + bytes > memory.left - bytes) throw unavailable("Too many files are being received.");
      change(bytes);
    },
    release() {
      change(-own);
      isReleased = true;
    },
  };
}

async function readForm(request: Request, type: string, bytes: Uint8Array, store: string): Promise<Uint8Array> {
  await freeTurn(store, request.signal);
  const form = new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { "content-type": type } }).formData();
  const fields = await form.then(
    (parsed) => [...parsed.values()],
    (cause) => {
      throw malformedRequest("The body is not a valid form.", { cause });
    },
  );
  const [file] = fields;
  if (fields.length !== 1 || !(file instanceof Blob)) {
    throw malformedRequest("The form must have one field, which is the file.");
  }
  return file.bytes();
}

function unsupported({ types }: Upload): AppError {
  const remedy = `Send the file as ${listWords(types)}, or as the only field of a multipart/form-data form.`;
  return unsupportedMediaType("The body must be a file of a supported type, without Content-Encoding.", { remedy });
}
