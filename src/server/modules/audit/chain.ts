/** A row of the audit log without its place and its hash. */
export interface AuditFacts {
  at: string;
  event: string;
  namespace: string | null;
  actor_kind: string;
  actor_id: string | null;
  subject: string | null;
  address: string | null;
  request_id: string;
  code: number | null;
  details: string | null;
}

/** SHA-256, in hex, over a row and the hash of the row before it (empty for the first). */
export function hashRow(previous: string, row: AuditFacts): string {
  const { at, event, namespace, actor_kind, actor_id, subject, address, request_id, code, details } = row;
  const facts = [previous, at, event, namespace, actor_kind, actor_id, subject, address, request_id, code, details];
  return Buffer.from(Bun.SHA256.hash(JSON.stringify(facts)) as Uint8Array).toString("hex");
}
