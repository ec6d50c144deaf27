/** A view of something by somebody who is named by a hash only, which is another for every resource and day. */
export interface NotedView {
  tenantId: string;
  resourceType: string;
  resourceId: string;
  /** UTC, `2026-03-01`. */
  day: string;
  mark: string;
}

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

  add({ mark, ...of }: NotedView): void {
    this.#groupOf(of).marks.push(mark);
    this.#size += 1;
  }

  /** Takes at most so many views off the list, of at most so many groups. */
  take(most: number, maxGroups: number): WaitingViews[] {
    const taken: WaitingViews[] = [];
    let room = most;
    for (const [key, group] of this.#groups) {
      if (room === 0 || taken.length === maxGroups) break;
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
    for (const { marks, ...of } of taken) {
      const group = this.#groupOf(of);
      for (const mark of marks) group.marks.push(mark);
      this.#size += marks.length;
    }
  }

  #groupOf(of: Omit<WaitingViews, "marks">): WaitingViews {
    const key = `${of.day}\n${of.tenantId}\n${of.resourceType}\n${of.resourceId}`;
    let group = this.#groups.get(key);
    if (!group) {
      group = { ...of, marks: [] };
      this.#groups.set(key, group);
    }
    return group;
  }
}
