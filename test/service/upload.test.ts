import { expect, test } from "bun:test";
import type { BodyMemory } from "../../src/server/api/body.ts";
import { readUpload } from "../../src/server/api/upload.ts";
import { MiB } from "../../src/server/values/units.ts";

const upload = { types: ["image/png"], bytes: 20 * MiB };

function send(memory: BodyMemory, store: string, bytes = 20 * MiB) {
  const headers = { "content-type": "image/png", "content-length": String(bytes) };
  const request = new Request("http://a/", { method: "POST", body: new Uint8Array(bytes), headers });
  return readUpload(request, upload, memory, store);
}

test("uploads reserve memory until their reply, and one store's uploads cannot reserve all memory", async () => {
  const memory: BodyMemory = { left: 128 * MiB };
  const { left } = memory;
  const held = [];
  for (const store of ["flood", "flood", "flood", "second", "third"]) held.push(await send(memory, store));
  expect(held.map(({ error }) => error?.kind)).toEqual(new Array(5).fill(undefined));
  const refused = await send(memory, "flood");
  expect(refused.error).toMatchObject({ kind: "unavailable", retryAfter: 1 });
  refused.release?.();
  expect(left - memory.left).toBeWithin(99 * MiB, 101 * MiB);
  for (const body of held) body.release?.();
  expect([memory.left, memory.held?.size]).toEqual([left, 0]);
  const again = await send(memory, "flood");
  expect(again.error).toBeUndefined();
  again.release?.();
});
