import type { ProductDocument } from "../../../server/modules/products/list/list.ts";
import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { printProduct, productArg, productNamespaceArg } from "./args.ts";

export default defineCommand({
  name: "show",
  description: "Show one product with its variants",
  args: { product: productArg, namespace: productNamespaceArg },
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
