/** Reads the WAL of a server before it is emptied. All calls are synchronous. */
export interface WalObserver {
  /** Whether the WAL may be emptied now. @param isUrgent it has reached its limit. */
  mayEmpty(walBytes: number, isUrgent: boolean): boolean;
  /** Reads the rest of the WAL. No commit can happen until it returns. */
  capture(walBytes: number): void;
  /** The WAL was emptied. @param isWhole whether no commit happened between `capture` and this. */
  emptied(isWhole: boolean): void;
}
