import type { Category, CategoryInput } from "../../../server/modules/catalogue/categories/model.ts";
import { recordArgs, withTenant } from "../../context/context.ts";
import { defineAct, defineList } from "../../context/store-command.ts";
import type { ArgValues, CommandArgs } from "../../framework/args.ts";
import { choiceArg, numberArg, requiredNamespaceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { type Console, printRecord } from "../../terminal/console.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { readGiven, translationArgs } from "../product/commands.ts";

const service = () => import("../../../server/modules/catalogue/categories/service.ts");

const load = async () => (await service()).getCategory;
const category = recordArgs("category", "category", "Id or slug of the category", load);

const fieldArgs = {
  title: valueArg("text", "Title"),
  parent: valueArg("category", "Parent category, by its id or slug; empty for none", {
    allowEmpty: true,
    completes: "category",
  }),
  slug: valueArg("text", "Name in addresses (default: made from the title)"),
  description: valueArg("text", "Description", { allowEmpty: true }),
  position: numberArg("number", "Position among the categories with the same parent"),
  published: choiceArg(["yes", "no"], "Whether customers see the category"),
  ...translationArgs,
} as const satisfies CommandArgs;

function readFields(args: ArgValues<typeof fieldArgs>): CategoryInput {
  const { title, parent: parent_id, slug, description, position } = args;
  const published = args.published && args.published === "yes";
  return readGiven(args, { title, parent_id, slug, description, position, published }) as CategoryInput;
}

const toCategoryRecord = <C extends Category>({ id, ...rest }: C) => ({ category_id: id, ...rest });

const printCategory = (console: Console, { json }: { json: string }) =>
  printRecord(console, toCategoryRecord(JSON.parse(json)));

export const listCommand = defineList({
  description: "List the categories of a store, each after its parent",
  args: {},
  examples: ["bodega category list -n demo"],
  rows: async (ctx) => (await (await service()).listCategoryTree(ctx)).map(toCategoryRecord),
  empty: "No categories found. Create one: bodega category create -n {namespace} --title <text>",
  columns: [
    "category_id",
    { header: "TITLE", value: ({ level, title }) => "  ".repeat(level) + title },
    ...(["slug", "published"] as const),
  ],
});

export const createCommand = defineAct({
  description: "Create a category",
  args: { namespace: requiredNamespaceArg, ...fieldArgs, title: { ...fieldArgs.title, required: true } },
  examples: ['bodega category create -n demo --title "Desk lamps" --parent lamps'],
  done: "Created category {title}.",
  notes: ["To add products to a category: bodega product update -h"],
  act: async (ctx, args) => (await service()).createCategory(ctx, readFields(args)),
  print: printCategory,
});

export const updateCommand = defineAct({
  description: "Update or move a category",
  args: { ...category.args, ...fieldArgs },
  examples: ["bodega category update -n demo desk-lamps --parent= --published no"],
  notes: ["Fields without a flag keep their value. An empty --parent= moves the category to the top level."],
  done: "Updated category {title}.",
  anyOf: Object.keys(fieldArgs),
  act: async (ctx, args) => (await service()).updateCategory(ctx, args.category, readFields(args), { ifMatch: null }),
  print: printCategory,
});

export const deleteCommand = defineCommand({
  description: "Delete a category that has no products and no subcategories",
  args: category.args,
  examples: ["bodega category delete -n demo desk-lamps"],
  done: "Deleted category {title}.",
  async run(args, console) {
    const { json } = await withTenant(args, console, (ctx) => category.find(ctx, args.category));
    const { id, title, slug } = JSON.parse(json) as Category;
    await confirmAction(console, `Delete category ${slug} (${title}) permanently?`);
    await withTenant(args, console, async (ctx) => (await service()).deleteCategory(ctx, id, null));
    await printRecord(console, { category_id: id, slug, title, deleted: true });
  },
});
