import { sql } from "drizzle-orm";
import { showPointsRate, showPointValue } from "./input.ts";
import type { Store } from "./model.ts";

/** A tenant as the terminal prints it; its first seven fields are the `store` of the login reply (specification, 2). */
export interface TenantRecord extends Store {
  status: "active" | "suspended";
  created_at: string;
}

type WriteLimit = "address_writes" | "visitor_writes";
type LimitColumn = WriteLimit | "pending_orders" | "stock_share" | "orders_per_minute" | "media_quota";

/** A tenant with its details; limits as in `Tenant`, other values as in `TenantInput`. */
export interface TenantDetails extends TenantRecord, Record<LimitColumn, number> {
  /** BCP 47 tag of texts without a language. */
  language: string;
  token_lifetime: number;
  points_rate: number;
  point_value: number;
  points_days: number | null;
  /** Types of resources besides products that can be liked, bookmarked and viewed. */
  resource_types: string[];
  sign_up: "off" | "open" | "verified";
  sign_in_by_mail: "off" | "on";
  updated_at: string;
}

/** As stored: the types are a JSON array. */
export type TenantRow = Omit<TenantDetails, "resource_types"> & { resource_types: string };

export const shown = sql.raw(
  "namespace, title, domain, url, currency, currency_sign, logo, status, created_at, language, token_lifetime, " +
    "points_rate, point_value, points_days, address_writes, visitor_writes, pending_orders, stock_share, " +
    "orders_per_minute, media_quota, sign_up, sign_in_by_mail, updated_at, (select json_group_array(name) from resource_types r " +
    "where r.tenant_id = tenants.id) as resource_types",
);

/** The names of changed fields, without their values, which may be confidential. */
export function changedFields(before: TenantDetails, after: TenantDetails): string[] {
  const names = Object.keys(after) as (keyof TenantDetails)[];
  return names.filter((name) => name !== "updated_at" && String(before[name]) !== String(after[name]));
}

/** Converts stored values (thousandths of a rate, minor units, JSON) to those that people read. */
export function toDetails(row: TenantRow): TenantDetails {
  return {
    ...row,
    points_rate: showPointsRate(row.points_rate),
    point_value: showPointValue(row.point_value, row.currency),
    resource_types: (JSON.parse(row.resource_types) as string[]).sort(),
  };
}

/** A tenant as most commands print it. */
export function toRecord(details: TenantDetails): TenantRecord {
  const { namespace, title, domain, url, currency, currency_sign, logo, status, created_at } = details;
  return { namespace, title, domain, url, currency, currency_sign, logo, status, created_at };
}
