import type { AuditRecord } from "../../../server/modules/audit/list.ts";
import { withContext } from "../../context/context.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseCount, parsePastTime } from "../../framework/parse-values.ts";
import { formatValue, info, printList } from "../../terminal/output.ts";

export default defineCommand({
  name: "list",
  description: "List what was done, newest first: who, what, when, from where",
  args: {
    namespace: { ...namespaceArg, description: "Only of this tenant" },
    event: {
      type: "string",
      valueHint: "name",
      completes: "event",
      description: "Only this event, or a group such as login.*",
    },
    actor: {
      type: "string",
      valueHint: "id",
      description: "Only by this key, user or account of the system; with -n also an email",
    },
    "actor-kind": {
      type: "enum",
      options: ["app", "user", "visitor", "terminal"],
      description: "Only by actors of this kind",
    },
    subject: {
      type: "string",
      valueHint: "id",
      description: "Only what was done to this user or key; with -n also an email",
    },
    address: { type: "string", valueHint: "ip", description: "Only from this address" },
    since: { type: "string", valueHint: "duration|time", description: "Not older: 24h, or 2030-01-31T00:00:00Z" },
    until: { type: "string", valueHint: "duration|time", description: "Only older than this" },
    failures: { type: "boolean", description: "Only what failed" },
    limit: { type: "string", valueHint: "number", default: "50", description: "How many at most, up to 1000" },
    before: { type: "string", valueHint: "seq", description: "Only rows before this one, to read on" },
  },
  examples: [
    "bodega audit list -n demo --since 24h",
    "bodega audit list -n demo --subject ada@example.com",
    "bodega audit list --event 'login.*' --failures --address 192.0.2.7",
    "bodega audit list --actor-kind terminal --limit 1000 --json",
  ],
  async run(args, console) {
    const now = Date.now();
    const { listAudit } = await import("../../../server/modules/audit/list.ts");
    const limit = parseCount("--limit", args.limit);
    const filter = {
      namespace: args.namespace,
      event: args.event,
      actorKind: args["actor-kind"],
      address: args.address,
      since: args.since === undefined ? undefined : parsePastTime("--since", args.since, now),
      until: args.until === undefined ? undefined : parsePastTime("--until", args.until, now),
      failures: args.failures,
      before: args.before === undefined ? undefined : parseCount("--before", args.before),
      limit,
    };
    const { namespace } = args;
    const rows = await withContext(args, console, async (ctx) => {
      const { findUserId } = await import("../../../server/modules/users/resolve.ts");
      const idOf = (name: string | undefined) =>
        name?.includes("@") && namespace ? findUserId(ctx, namespace, name) : name;
      return listAudit(ctx, { ...filter, actor: await idOf(args.actor), subject: await idOf(args.subject) });
    });
    await printList(console, rows, {
      id: (row) => String(row.seq),
      empty: "Nothing of the kind has been written down.",
      columns: [
        { header: "SEQ", value: (row) => String(row.seq), whole: true },
        { header: "AT", value: (row) => row.at, whole: true },
        { header: "EVENT", value: (row) => row.event, whole: true },
        { header: "NAMESPACE", value: (row) => formatValue(row.namespace) },
        { header: "ACTOR", value: formatActor },
        { header: "SUBJECT", value: (row) => formatValue(row.subject) },
        { header: "ADDRESS", value: (row) => formatValue(row.address) },
        { header: "CODE", value: (row) => formatValue(row.code), whole: true },
      ],
    });
    const last = rows.at(-1);
    if (last && rows.length === limit && last.seq > 1) await info(console, `Older ones: --before ${last.seq}`);
  },
});

function formatActor({ actor_kind, actor_id }: AuditRecord): string {
  return actor_id === null ? actor_kind : `${actor_kind} ${actor_id}`;
}
