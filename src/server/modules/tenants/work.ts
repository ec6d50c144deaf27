import { sql } from "drizzle-orm";

/**
 * SQL for a tenant, under the alias `t`, as the JSON text of what services hold as `ctx.tenant`: for work that goes
 * through rows of all tenants.
 */
export const tenantForWork = sql.raw(`json_object('id', t.id, 'namespace', t.namespace, 'title', t.title,
  'currency', t.currency, 'language', t.language, 'tokenLifetime', t.token_lifetime, 'pointsRate', t.points_rate,
  'pointValue', t.point_value, 'pointsDays', t.points_days,
  'addressWrites', t.address_writes, 'visitorWrites', t.visitor_writes)`);
