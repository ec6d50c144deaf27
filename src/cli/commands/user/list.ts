import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseCount } from "../../framework/parse-values.ts";
import { formatValue, info, printList } from "../../terminal/output.ts";
import { userNamespaceArg } from "./args.ts";
import { listUserRecords } from "./print.ts";

export default defineCommand({
  name: "list",
  description: "List the users of a tenant, newest first",
  args: {
    namespace: userNamespaceArg,
    query: { type: "string", valueHint: "text", field: "q", description: "Only those whose email or name begins so" },
    role: { type: "enum", options: ["customer", "staff", "owner"], description: "Only those of this role" },
    status: { type: "enum", options: ["active", "disabled"], description: "Only those of this status" },
    limit: { type: "string", valueHint: "number", default: "1000", description: "How many at most" },
  },
  examples: ["bodega user list -n demo --role staff", "bodega user list -n demo --query ada --limit 100000 --json"],
  async run(args, console) {
    const limit = parseCount("--limit", args.limit);
    const filter = {
      ...(args.query !== undefined && { q: args.query }),
      ...(args.role !== undefined && { role: args.role }),
      ...(args.status !== undefined && { status: args.status }),
    };
    const { users, hasMore } = await withTenant(args, console, (ctx) => listUserRecords(ctx, filter, limit));
    await printList(console, users, {
      id: (user) => user.user_id,
      empty: `There is no such user. Make one: bodega user create -n ${args.namespace} --email <address>`,
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
    if (hasMore) await info(console, `There are more than ${limit}: give a greater --limit.`);
  },
});
