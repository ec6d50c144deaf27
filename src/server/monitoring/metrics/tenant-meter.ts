import type { TenantCounts } from "./counts.ts";

/** More stores than this are not remembered; what is let go is what was asked least. */
const maxKept = 1000;

/** Counts what each store is asked, within bounds. */
export class TenantMeter {
  readonly #kept = new Map<string, TenantCounts>();

  /** Counts one request of a store that exists. */
  note(namespace: string, isError: boolean): void {
    let counts = this.#kept.get(namespace);
    if (counts === undefined) {
      if (this.#kept.size >= maxKept) this.#forgetHalf();
      counts = { namespace, requests: 0, errors: 0 };
      this.#kept.set(namespace, counts);
    }
    counts.requests++;
    if (isError) counts.errors++;
  }

  /** Those asked most first. */
  read(): TenantCounts[] {
    return busiest([...this.#kept.values()]).map((counts) => ({ ...counts }));
  }

  #forgetHalf(): void {
    for (const { namespace } of this.read().slice(maxKept / 2)) this.#kept.delete(namespace);
  }
}

/** Stores by how much they are asked, the busiest first. */
export function busiest(tenants: readonly TenantCounts[]): TenantCounts[] {
  return tenants.toSorted((a, b) => b.requests - a.requests || (a.namespace < b.namespace ? -1 : 1));
}
