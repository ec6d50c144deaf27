import { sql } from "drizzle-orm";
import { all, statement } from "../../db/statement.ts";
import { tenants } from "../../modules/tenants/table.ts";
import { inScope } from "../records/check.ts";
import type { Checkup, CheckupDeps, Finding } from "./finding.ts";
import { limitFindings } from "./limit-findings.ts";

interface Store {
  namespace: string;
  status: "active" | "suspended";
  updated_at: string;
}

const selectStores = statement<Store>(sql`
  select t.namespace, t.status, t.updated_at from (select *, id as tenant_id from ${tenants}) t where ${inScope("t")}
  order by t.namespace`);

/** Whether there is a store, and which ones are closed. */
export const stores: Checkup = {
  name: "stores",
  ofStores: true,
  async find(about) {
    const { ctx, tenant } = about;
    if (ctx === null) return [];
    const found = await all(ctx.db, selectStores, { tenantId: tenant?.id ?? null });
    if (found.length === 0) return [describeNone(about)];
    const suspended = found.filter(({ status }) => status === "suspended").map((store) => describe(store, about));
    return limitFindings(suspended, "stores");
  },
};

function describeNone({ command }: CheckupDeps): Finding {
  const message = "There is no store yet.";
  return { severity: "note", subject: "stores", message, remedy: command("tenant create demo") };
}

function describe({ namespace, updated_at }: Store, { command }: CheckupDeps): Finding {
  return {
    severity: "note",
    subject: namespace,
    namespace,
    message: `${namespace} is suspended, last changed at ${updated_at}: every call for it is answered as if it were not there.`,
    remedy: command(`tenant resume ${namespace}`),
  };
}
