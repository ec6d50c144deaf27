import type { AuditRecord } from "../../../server/modules/audit/list.ts";
import { withContext } from "../../context/context.ts";
import { limitArg, namespaceFilterArg, sinceArg, untilArg } from "../../context/list-args.ts";
import { choiceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseCount } from "../../framework/parse-values.ts";
import { info, printList, printRecord } from "../../terminal/console.ts";

export const listCommand = defineCommand({
  description: "List audit log entries, newest first",
  args: {
    namespace: namespaceFilterArg,
    event: valueArg("name", "Filter by event, or by group such as login.*", { completes: "event" }),
    actor: valueArg("id", "Filter by acting key, user or system account; with -n also by email"),
    "actor-kind": choiceArg(["app", "user", "visitor", "terminal"], "Filter by kind of actor"),
    subject: valueArg("id", "Filter by affected user or key; with -n also by email"),
    address: valueArg("ip", "Filter by IP address"),
    since: sinceArg,
    until: untilArg,
    failures: { type: "boolean", description: "List failures only" },
    limit: limitArg("50", 1000),
    before: valueArg("seq", "List entries before this one, for the next page", { parse: parseCount }),
  },
  examples: ["bodega audit list -n demo --event 'login.*' --failures --since 24h"],
  async run(args, console) {
    const { listAudit } = await import("../../../server/modules/audit/list.ts");
    const { findUserId } = await import("../../../server/modules/users/list.ts");
    const rows = await withContext(args, console, async (ctx) => {
      const idOf = (name: string | undefined) =>
        name?.includes("@") && args.namespace ? findUserId(ctx, args.namespace, name) : name;
      const [actor, subject] = [await idOf(args.actor), await idOf(args.subject)];
      return listAudit(ctx, { ...args, actorKind: args["actor-kind"], actor, subject });
    });
    await printList(console, rows, {
      empty: "No audit log entries found.",
      columns: [
        "seq",
        { header: "TIME", value: ({ at }) => at },
        ...(["event", "namespace"] as const),
        { header: "ACTOR", value: formatActor },
        { header: "SUBJECT", value: formatSubject },
        ...(["address", "code"] as const),
      ],
    });
    const last = rows.at(-1);
    if (last && rows.length === args.limit) await info(console, `For older entries, use --before ${last.seq}`);
  },
});

function formatActor({ actor_kind: kind, actor_id: id, actor_email }: AuditRecord): string {
  if (id === null) return kind;
  // The ids of apps and users begin with their kind, so the table does not repeat the kind.
  return addEmail(kind === "app" || kind === "user" ? id : `${kind} ${id}`, actor_email);
}

function formatSubject({ subject, subject_email, actor_id }: AuditRecord): string {
  return subject !== null && subject === actor_id ? "the actor" : addEmail(subject ?? "-", subject_email);
}

const addEmail = (id: string, email: string | null) => (email === null ? id : `${id} (${email})`);

export const verifyCommand = defineCommand({
  description: "Verify that no audit log entry was changed or removed",
  args: { expect: valueArg("seq:hash", "The head that an earlier verify printed") },
  examples: ["bodega audit verify"],
  notes: [
    "The exit code is 0 if the log is intact, otherwise 1. Someone who can write the database file can replace the whole log. " +
      "To detect that, save the head (the number and hash of the last entry) elsewhere, and pass it to --expect the next time.",
  ],
  async run(args, console) {
    const { verifyAudit } = await import("../../../server/modules/audit/verify.ts");
    const verdict = await withContext(args, console, (ctx) => verifyAudit(ctx, args));
    const { first, last, ...rest } = verdict;
    const head = last && `${last.seq}:${last.hash}`;
    const shown = { ...rest, from: first?.at, to: last?.at, head };
    await printRecord(console, console.json ? verdict : shown, "head");
    return verdict.intact ? 0 : 1;
  },
});
