/** Marks that have been met lately: at least the last so many, and at most twice as many. */
export class KnownMarks {
  readonly #most: number;
  #recent = new Set<string>();
  #before = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  has(mark: string): boolean {
    return this.#recent.has(mark) || this.#before.has(mark);
  }

  add(mark: string): void {
    if (this.#recent.size >= this.#most) {
      this.#before = this.#recent;
      this.#recent = new Set();
    }
    this.#recent.add(mark);
  }

  delete(mark: string): void {
    this.#recent.delete(mark);
    this.#before.delete(mark);
  }
}
