import { withTenant } from "../../context/context.ts";
import { collectPages } from "../../framework/collect-pages.ts";
import { defineCommand } from "../../framework/command.ts";
import { limitArg, noteLimit, requiredNamespaceArg } from "../../framework/list-args.ts";
import { parseCount } from "../../framework/parse-values.ts";
import { formatValue, printList } from "../../terminal/output.ts";

import { toUserRecord, type User } from "./print.ts";

export default defineCommand({
  name: "list",
  description: "List the users of a store, newest first",
  args: {
    namespace: requiredNamespaceArg,
    query: { type: "string", valueHint: "text", field: "q", description: "Filter by the beginning of email or name" },
    role: { type: "enum", options: ["customer", "staff", "owner"], description: "Filter by role" },
    status: { type: "enum", options: ["active", "disabled"], description: "Filter by status" },
    limit: limitArg("1000"),
  },
  examples: ["bodega user list -n demo --role staff", "bodega user list -n demo --query ada --limit 100000 --json"],
  async run(args, console) {
    const limit = parseCount("--limit", args.limit);
    const filter = {
      ...(args.query !== undefined && { q: args.query }),
      ...(args.role !== undefined && { role: args.role }),
      ...(args.status !== undefined && { status: args.status }),
    };
    const { listUsers } = await import("../../../server/modules/users/list.ts");
    const { records, hasMore } = await withTenant(args, console, (ctx) =>
      collectPages<User>(limit, (page) => listUsers(ctx, { ...filter, ...page })),
    );
    await printList(console, records.map(toUserRecord), {
      id: (user) => user.user_id,
      empty: `No users found. Create one: bodega user create -n ${args.namespace} --email <address>`,
      columns: [
        { header: "USER ID", value: (user) => user.user_id, whole: true },
        { header: "EMAIL", value: (user) => user.email },
        { header: "NAME", value: (user) => formatValue(user.name) },
        { header: "ROLE", value: (user) => user.role, whole: true },
        { header: "STATUS", value: (user) => user.status, state: true },
        { header: "TWO-FACTOR", value: (user) => formatValue(user.two_factor_enabled) },
        { header: "LAST SIGN-IN", value: (user) => formatValue(user.last_login_at) },
      ],
    });
    if (hasMore) await noteLimit(console, limit);
  },
});
