// The one list of tables that the migration generator reads; nothing at run time imports it.
import { appKeyOrigins, appKeySecrets, appKeys } from "../modules/app-keys/table.ts";
import { products } from "../modules/products/table.ts";
import { rateLimits } from "../modules/rate-limits/table.ts";
import { revision, tenants } from "../modules/tenants/table.ts";

export const schema = { tenants, revision, appKeys, appKeySecrets, appKeyOrigins, rateLimits, products };
