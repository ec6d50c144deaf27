import { unavailable } from "../errors.ts";

export type Hold = ReturnType<typeof reserveMemory>;

/** Memory for request bodies that are being received. Each process has one. */
export interface BodyMemory {
  left: number;
  held?: Map<string, number>;
}

/**
 * Counts memory for a body. JSON bodies count only beyond their first 64 KiB, so that idle connections do not use it
 * up.
 * @param store may hold at most as much as it leaves to the others.
 */
export function reserveMemory(memory: BodyMemory, store?: string) {
  let own = 0;
  let isReleased = false;
  memory.held ??= new Map();
  const { held } = memory;
  const hold = (bytes: number) => {
    memory.left -= bytes;
    own += bytes;
    if (store !== undefined && !held.set(store, (held.get(store) ?? 0) + bytes).get(store)) held.delete(store);
  };
  return {
    add(bytes: number) {
      const most = store === undefined ? memory.left : memory.left - bytes - (held.get(store) ?? 0);
      // A body that timed out may still be arriving.
      if (isReleased || bytes > most) throw unavailable("Too many large bodies are being received.");
      hold(bytes);
    },
    release() {
      hold(-own);
      isReleased = true;
    },
  };
}
