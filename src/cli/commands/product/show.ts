import type { ProductDocument } from "../../../server/modules/products/list/list.ts";
import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { productArg } from "./args.ts";
import { printProduct } from "./print.ts";

export default defineCommand({
  name: "show",
  description: "Show a product with its variants",
  args: { product: productArg, namespace: requiredNamespaceArg },
  examples: [
    "bodega product show -n demo desk-lamp",
    "bodega product show -n demo LAMP-1",
    "bodega product show -n demo prod_01k8z3v5x2f1rt9m6q7wbn4hcd --json",
  ],
  async run(args, console) {
    const { resolveProductId } = await import("../../../server/modules/products/resolve.ts");
    const { getProduct } = await import("../../../server/modules/products/service.ts");
    const { json } = await withTenant(args, console, async (ctx) =>
      getProduct(ctx, await resolveProductId(ctx, args.product)),
    );
    await printProduct(console, JSON.parse(json) as ProductDocument);
  },
});
