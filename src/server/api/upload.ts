import { yieldToEventLoop } from "../concurrency/event-loop.ts";
import { bodyTooLarge, malformedRequest } from "../errors.ts";
import type { Upload } from "../http/route.ts";
import { formatBytes, KiB } from "../values/units.ts";
import { asBodyError, type Body, type BodyMemory, collectInTime, reserveMemory } from "./body.ts";

/** The time for an upload, in milliseconds: enough for 20 MiB over 2 Mbit/s. */
const maxMs = 90_000;
const formBytes = 16 * KiB;

/** Reads a file, sent as the body or as the only field of a form. Never throws. Call `release` after the reply. */
export async function readUpload(request: Request, upload: Upload, memory: BodyMemory, store: string): Promise<Body> {
  const held = reserveMemory(memory, store);
  const { release } = held;
  const type = request.headers.get("content-type") ?? "";
  // A signature is verified over the bytes as they were sent, so calls with JSON are not parsed here.
  const isForm = !upload.types.includes("application/json") && /^multipart\/form-data *;/i.test(type);
  try {
    const limits = { bytes: upload.bytes + (isForm ? formBytes : 0), ms: maxMs };
    const bytes = await collectInTime(request, limits, held);
    const file = isForm ? await readForm(request, type, bytes, store) : bytes;
    if (file.length > upload.bytes) throw bodyTooLarge(`The file is larger than ${formatBytes(upload.bytes)}.`);
    if (file.length === 0) throw malformedRequest("The file is empty.");
    return { value: { file }, release };
  } catch (error) {
    return { error: asBodyError(error), release };
  }
}

async function readForm(request: Request, type: string, bytes: Uint8Array, store: string): Promise<Uint8Array> {
  await yieldToEventLoop(store, request);
  const sent = new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { "content-type": type } });
  const form = await sent.formData().catch((cause) => {
    throw malformedRequest("The body is not a valid form.", { cause });
  });
  const [file, ...others] = form.values();
  if (others.length > 0 || !(file instanceof Blob)) {
    throw malformedRequest("The form must have one field, which is the file.");
  }
  return file.bytes();
}
