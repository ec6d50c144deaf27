import type { Ctx } from "../../context.ts";
import { forbidden, invalidField } from "../../errors.ts";
import { isId } from "../../values/ids.ts";
import { parseMoney } from "../../values/money.ts";
import { checkNote } from "../../values/text.ts";
import { currencyDigits } from "../tenants/currency.ts";
import { parseLanguage } from "../tenants/language.ts";
import { postalAddress } from "../users/input.ts";
import type { OrderInput } from "./model.ts";
import { isCustomer } from "./ownership.ts";

/** One line that somebody wants, checked. */
export interface WantedLine {
  productId: string | null;
  variantId: string | null;
  quantity: number;
}

/** What an order is made of, checked; amounts in minor units of the store's currency. */
export interface CheckedOrder {
  lines: WantedLine[];
  shippingAddress: string | null;
  note: string | null;
  usePoints: number;
  shipping: number;
  tax: number;
  digits: number;
  lang: string;
}

const maxItems = 100;
const maxPieces = 1_000_000;
const maxNote = 2000;

/**
 * Checks what a schema cannot; whoever calls comes through here.
 * @throws validationFailed naming the field, forbidden for a customer who sets shipping or tax.
 */
export function checkOrder(ctx: Ctx, input: OrderInput & { lang?: string | undefined }): CheckedOrder {
  if (isCustomer(ctx) && (input.shipping !== undefined || input.tax !== undefined)) {
    throw forbidden("Shipping and tax are set by the store.");
  }
  const count = input.items.length;
  if (count < 1 || count > maxItems) throw invalidField("items", `must be 1 to ${maxItems}`);
  const digits = currencyDigits(ctx.tenant.currency);
  const address = input.shipping_address ?? null;
  return {
    lines: input.items.map(wantedLine),
    shippingAddress: address && JSON.stringify(postalAddress("shipping_address", address)),
    note: checkNote("note", input.note ?? null, maxNote),
    usePoints: whole("use_points", input.use_points ?? 0, 0, Number.MAX_SAFE_INTEGER),
    shipping: parseMoney("shipping", input.shipping ?? 0, digits),
    tax: parseMoney("tax", input.tax ?? 0, digits),
    digits,
    lang: input.lang === undefined ? ctx.tenant.language : parseLanguage("lang", input.lang),
  };
}

function wantedLine(item: OrderInput["items"][number], index: number): WantedLine {
  const { product_id: productId = null, variant_id: variantId = null } = item;
  const unknown = "names nothing that is sold here";
  if (productId === null && variantId === null) {
    throw invalidField(`items.${index}.product_id`, "is required, or `variant_id`");
  }
  if (productId !== null && !isId("prod", productId)) throw invalidField(`items.${index}.product_id`, unknown);
  if (variantId !== null && !isId("var", variantId)) throw invalidField(`items.${index}.variant_id`, unknown);
  return { productId, variantId, quantity: whole(`items.${index}.quantity`, item.quantity, 1, maxPieces) };
}

function whole(field: string, value: number, least: number, most: number): number {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw invalidField(field, `must be a whole number of ${least} to ${most}`);
  }
  return value;
}
