/** Keeps recently used entries, in two generations. A strict order of use would have to change the map at each hit. */
export class LruCache<T> {
  readonly #half: number;
  #young = new Map<string, T>();
  #old = new Map<string, T>();

  /** Keeps at least `half` entries and at most twice as many. */
  constructor(half: number) {
    this.#half = half;
  }

  get(key: string): T | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  getOrMake(key: string, make: (key: string) => T): T {
    const known = this.get(key);
    if (known !== undefined) return known;
    const made = make(key);
    this.set(key, made);
    return made;
  }

  set(key: string, value: T): void {
    if (this.#young.size >= this.#half) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}
