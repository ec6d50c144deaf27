import { sql } from "drizzle-orm";
import { all, statement } from "../../db/statement.ts";
import { tenants } from "../../modules/tenants/table.ts";
import { twoFactor } from "../../modules/two-factor/table.ts";
import { users } from "../../modules/users/table.ts";
import { inScope } from "../records/check.ts";
import type { Checkup, CheckupDeps, Finding } from "./finding.ts";
import { limitFindings } from "./limit-findings.ts";

interface Account {
  user_id: string;
  email: string;
  role: string;
  namespace: string;
}

// Store by store and by role, as the index of roles is: nearly all who are active are customers.
const selectUnproven = statement<Account>(sql`
  select u.id as user_id, u.email, u.role, t.namespace
  from ${tenants} t cross join ${users} u on u.tenant_id = t.id
  where u.role in ('staff', 'owner') and +u.status = 'active' and t.status = 'active' and ${inScope("u")}
    and not exists (select 1 from ${twoFactor} f where f.user_id = u.id and f.confirmed_at is not null)
  order by t.namespace, u.role, u.id`);
const selectOwnerless = statement<{ namespace: string }>(sql`
  select t.namespace from (select *, id as tenant_id from ${tenants}) t where t.status = 'active' and ${inScope("t")}
    and not exists (select 1 from ${users} u where u.tenant_id = t.id and u.role = 'owner' and u.status = 'active')
  order by t.namespace`);

/** Staff who sign in with a password alone, and stores that nobody owns. */
export const accounts: Checkup = {
  name: "accounts",
  ofStores: true,
  async find(about) {
    const { ctx, tenant } = about;
    if (ctx === null) return [];
    const values = { tenantId: tenant?.id ?? null };
    const unproven = (await all(ctx.db, selectUnproven, values)).map(describeUnproven);
    const ownerless = (await all(ctx.db, selectOwnerless, values)).map((one) => describeOwnerless(one, about));
    return [...limitFindings(unproven, "users"), ...limitFindings(ownerless, "stores")];
  },
};

function describeUnproven({ user_id, email, role, namespace }: Account): Finding {
  return {
    severity: "warning",
    subject: user_id,
    namespace,
    message: `${email}, ${role === "owner" ? "an owner" : "staff"} of ${namespace}, signs in with a password alone.`,
    remedy: "Have them turn two-factor on, signed in, with POST /users/me/two-factor/ and then …/confirm/.",
  };
}

function describeOwnerless({ namespace }: { namespace: string }, { command }: CheckupDeps): Finding {
  return {
    severity: "note",
    subject: namespace,
    namespace,
    message: `Nobody owns ${namespace}: what is an owner's to do can be done at this terminal only.`,
    remedy: command(`user create -n ${namespace} --role owner --random-password --email you@example.com`),
  };
}
