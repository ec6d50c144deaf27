import type { NotedView } from "../../process-memory.ts";

/** Views of one resource on one day that are not written down yet. */
export interface WaitingViews {
  tenantId: string;
  resourceType: string;
  resourceId: string;
  day: string;
  marks: string[];
}

/** What waits to be written down, in the order in which it came. */
export class WaitingList {
  #groups = new Map<string, WaitingViews>();
  #size = 0;

  /** How many views wait. */
  get size(): number {
    return this.#size;
  }

  add({ tenantId, resourceType, resourceId, day, mark }: NotedView): void {
    this.#add({ tenantId, resourceType, resourceId, day, marks: [mark] });
  }

  /** Takes at most so many views off the list, of at most so many groups. */
  take(most: number, mostGroups: number): WaitingViews[] {
    const taken: WaitingViews[] = [];
    let room = most;
    for (const [key, group] of this.#groups) {
      if (room === 0 || taken.length === mostGroups) break;
      const marks = group.marks.splice(0, room);
      if (group.marks.length === 0) this.#groups.delete(key);
      room -= marks.length;
      taken.push({ ...group, marks });
    }
    this.#size -= most - room;
    return taken;
  }

  /** Puts what could not be written down at the end of the list, so that it keeps nothing else back. */
  putBack(taken: readonly WaitingViews[]): void {
    for (const group of taken) this.#add(group);
  }

  #add({ marks, ...of }: WaitingViews): void {
    const key = `${of.day}\n${of.tenantId}\n${of.resourceType}\n${of.resourceId}`;
    const group = this.#groups.get(key);
    if (group) for (const mark of marks) group.marks.push(mark);
    else this.#groups.set(key, { ...of, marks: [...marks] });
    this.#size += marks.length;
  }
}
