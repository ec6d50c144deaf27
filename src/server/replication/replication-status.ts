/** How a replica is doing; times are RFC 3339. */
export interface ReplicationStatus {
  place: string;
  /** How long ago everything that was committed was in the replica. */
  lag_seconds: number;
  last_snapshot_at: string | null;
  /** Null after a later success. */
  failure: { since: string; message: string } | null;
}
