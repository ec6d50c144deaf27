import { sql } from "drizzle-orm";
import { jsonOf } from "../../db/selection.ts";
import { statement } from "../../db/statement.ts";
import { resourceTypes } from "../resources/table.ts";
import { showPointsRate, showPointValue } from "./input.ts";
import { tenants } from "./table.ts";

const { namespace, title, domain, url, currency, logo, status, language } = tenants;

export const store = { namespace, title, domain, url, currency, currency_sign: tenants.currencySign, logo };

export const shown = {
  ...store,
  ...{ status, created_at: tenants.createdAt, language, token_lifetime: tenants.tokenLifetime },
  ...{ points_rate: tenants.pointsRate, point_value: tenants.pointValue, points_days: tenants.pointsDays },
  ...{ address_writes: tenants.addressWrites, visitor_writes: tenants.visitorWrites },
  ...{ pending_orders: tenants.pendingOrders, stock_share: tenants.stockShare },
  ...{ orders_per_minute: tenants.ordersPerMinute, media_quota: tenants.mediaQuota },
  ...{ sign_up: tenants.signUp, sign_in_by_mail: tenants.signInByMail, updated_at: tenants.updatedAt },
  /** Types of resources besides products that can be liked, bookmarked and viewed. */
  resource_types: jsonOf<string[]>(sql`(select json_group_array(name) from (
    select name from ${resourceTypes} r where r.tenant_id = ${tenants}.id order by name))`),
};

export const selectTenants = statement((q) => q.select(shown).from(tenants).orderBy(namespace));
type TenantRow = NonNullable<(typeof selectTenants)["row"]>;
/** A tenant as the terminal shows it; limits as in `Tenant`, other values as in `TenantInput`. */
export type TenantDetails = ReturnType<typeof toDetails>;
export type TenantRecord = ReturnType<typeof toRecord>;

/** The names of changed fields, without their values, which may be confidential. */
export function changedFields(before: TenantDetails, after: TenantDetails): string[] {
  const names = Object.keys(after) as (keyof TenantDetails)[];
  return names.filter((name) => name !== "updated_at" && String(before[name]) !== String(after[name]));
}

/** Converts stored values (thousandths of a rate, minor units) to those that people read. */
export function toDetails(row: TenantRow) {
  const { points_rate, point_value, currency } = row;
  return { ...row, points_rate: showPointsRate(points_rate), point_value: showPointValue(point_value, currency) };
}

export function toRecord(details: TenantDetails) {
  const { namespace, title, domain, url, currency, currency_sign, logo, status, created_at } = details;
  return { namespace, title, domain, url, currency, currency_sign, logo, status, created_at };
}
