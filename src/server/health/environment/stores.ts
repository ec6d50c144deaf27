import { sql } from "drizzle-orm";
import { all, statement } from "../../db/statement.ts";
import { tenants } from "../../modules/tenants/table.ts";
import { twoFactor } from "../../modules/two-factor/table.ts";
import { users } from "../../modules/users/table.ts";
import { type Finding, limitFindings } from "../finding.ts";
import { inScope } from "../records/check.ts";
import type { EnvironmentCheck } from "./check.ts";

const selectStores = statement<{ namespace: string; status: string }>(sql`
  select t.namespace, t.status from (select *, id as tenant_id from ${tenants}) t where ${inScope("t")}
  order by t.namespace`);

/** There is a store, and none is suspended. */
export const stores = {
  id: "stores",
  ofStores: true,
  needsDatabase: true,
  async run({ ctx, tenant, command }) {
    const found = await all(ctx.db, selectStores, { tenantId: tenant?.id ?? null });
    if (found.length === 0) {
      const remedy = command("tenant create demo");
      return [{ severity: "note", subject: "stores", message: "There is no store yet.", remedy }];
    }
    const suspended = found
      .filter(({ status }) => status === "suspended")
      .map(
        ({ namespace }): Finding => ({
          severity: "note",
          subject: namespace,
          namespace,
          message: `Store ${namespace} is suspended. Requests get the same reply as for a store that does not exist.`,
          remedy: command(`tenant resume ${namespace}`),
        }),
      );
    return limitFindings(suspended, "stores");
  },
} satisfies EnvironmentCheck;

interface Account {
  user_id: string;
  email: string;
  role: string;
  namespace: string;
}

// By store and role, as the index of roles: most active users are customers.
const selectWithoutTwoFactor = statement<Account>(sql`
  select u.id as user_id, u.email, u.role, t.namespace
  from ${tenants} t cross join ${users} u on u.tenant_id = t.id
  where u.role in ('staff', 'owner') and +u.status = 'active' and t.status = 'active' and ${inScope("u")}
    and not exists (select 1 from ${twoFactor} f where f.user_id = u.id and f.confirmed_at is not null)
  order by t.namespace, u.role, u.id`);
const selectOwnerless = statement<{ namespace: string }>(sql`
  select t.namespace from (select *, id as tenant_id from ${tenants}) t where t.status = 'active' and ${inScope("t")}
    and not exists (select 1 from ${users} u where u.tenant_id = t.id and u.role = 'owner' and u.status = 'active')
  order by t.namespace`);

/** Staff use two-factor authentication, and stores have an owner. */
export const accounts = {
  id: "accounts",
  ofStores: true,
  needsDatabase: true,
  async run({ ctx, tenant, command }) {
    const values = { tenantId: tenant?.id ?? null };
    const open = (await all(ctx.db, selectWithoutTwoFactor, values)).map(
      ({ user_id, email, role, namespace }): Finding => ({
        severity: "warning",
        subject: user_id,
        namespace,
        message: `${email} (${role} of store ${namespace}) signs in without two-factor authentication.`,
        remedy: "Ask them to turn on two-factor authentication: POST /users/me/two-factor/, then …/confirm/.",
      }),
    );
    const ownerless = (await all(ctx.db, selectOwnerless, values)).map(
      ({ namespace }): Finding => ({
        severity: "note",
        subject: namespace,
        namespace,
        message: `Store ${namespace} has no owner. It can be managed only from this terminal.`,
        remedy: command(`user create -n ${namespace} --role owner --random-password --email you@example.com`),
      }),
    );
    return [...limitFindings(open, "users"), ...limitFindings(ownerless, "stores")];
  },
} satisfies EnvironmentCheck;
