import type { Ctx } from "../context.ts";
import { createDiscount } from "../modules/discounts/service.ts";
import type { ShippingRateInput } from "../modules/shipping/model.ts";
import { replaceShippingRates } from "../modules/shipping/service.ts";
import { replaceTaxRates } from "../modules/taxes/service.ts";
import { getTenant, updateTenant } from "../modules/tenants/service.ts";
import sale from "./demo-sale.json" with { type: "json" };

/** Settings of the demo's store. `linkShop` sets those that contain the address of the shop. */
export const saleSettings = sale.store;

/** Gives the demo's store tax rates, shipping rates and a discount code. */
export async function openSale(ctx: Ctx): Promise<void> {
  await replaceTaxRates(ctx, sale.taxes);
  // TypeScript gives each record of a JSON file the fields of all records, so the type is asserted.
  await replaceShippingRates(ctx, sale.rates as ShippingRateInput[]);
  await createDiscount(ctx, sale.discount);
}

/** Saves the addresses of the shop's pages in the settings of the store. The port may differ between starts. */
export async function linkShop(ctx: Ctx, shopUrl: string): Promise<void> {
  const { namespace } = ctx.tenant;
  const orderUrl = `${shopUrl}/`;
  if ((await getTenant(ctx, namespace)).order_url === orderUrl) return;
  const texts = ["imprint", "terms", "withdrawal", "privacy"];
  const legalUrls = JSON.stringify(Object.fromEntries(texts.map((name) => [name, `${shopUrl}/#/legal/${name}`])));
  await updateTenant(ctx, namespace, { orderUrl, legalUrls });
}
