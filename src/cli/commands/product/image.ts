import type { Ctx } from "../../../server/context.ts";
import type { Image } from "../../../server/modules/catalogue/products/images.ts";
import type { StockItem } from "../../../server/modules/catalogue/products/stock.ts";
import { withPictures } from "../../context/context.ts";
import { valueArg, wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { type Console, formatValue, printList } from "../../terminal/console.ts";
import { product } from "./commands.ts";

async function withPicturesOf(
  args: Parameters<typeof withPictures>[0] & { product: string },
  console: Console,
  work: (ctx: Ctx, item: StockItem) => Promise<Image[]>,
): Promise<void> {
  const images = await withPictures(args, console, async (ctx) => work(ctx, await product.find(ctx, args.product)));
  await printList(console, images, {
    empty: "No pictures found.",
    columns: [
      { header: "PICTURE", value: ({ media_id, url }) => media_id ?? url },
      { header: "TEXT", value: ({ alt }) => formatValue(alt || null) },
    ],
  });
}

const pictures = () => import("../../../server/modules/catalogue/products/pictures.ts");

export const addCommand = defineCommand({
  description: "Add pictures to a product or variant",
  args: {
    ...product.args,
    file: wordArg("Files to upload: JPEG, PNG, WebP or GIF", { multiple: true, completes: "file" }),
    alt: valueArg("text", "Text for people who cannot see the pictures"),
  },
  examples: ["bodega product image add -n demo desk-lamp lamp.jpg lamp-on.jpg --alt 'Desk lamp'"],
  notes: [
    "Pictures are stored as WebP without metadata, at most 2560 pixels wide and high. A file has at most 20 MiB and 40 " +
      "million pixels.",
  ],
  async run(args, console) {
    const { addPictures } = await pictures();
    await withPicturesOf(args, console, (ctx, item) => addPictures(ctx, item, args.file, args.alt));
  },
});

export const listCommand = defineCommand({
  description: "List the pictures of a product or variant",
  args: product.args,
  examples: ["bodega product image list -n demo LAMP-1"],
  run: async (args, console) => withPicturesOf(args, console, (await pictures()).listPictures),
});

export const removeCommand = defineCommand({
  description: "Remove pictures from a product or variant",
  args: { ...product.args, picture: wordArg("Ids or URLs, as list shows them", { multiple: true }) },
  examples: ["bodega product image remove -n demo LAMP-1 med_01k8z3v5x2f1rt9m6q7wbn4hcd"],
  async run(args, console) {
    const { removePictures } = await pictures();
    await withPicturesOf(args, console, (ctx, item) => removePictures(ctx, item, args.picture));
  },
});
