import type { Ctx } from "../../server/context.ts";
import { type ArgValues, type CommandArgs, requiredNamespaceArg } from "../framework/args.ts";
import { type CommandDefinition, defineCommand } from "../framework/command.ts";
import { type Console, type ListView, printList, printRecord } from "../terminal/console.ts";
import { type StoreArgs, withTenant } from "./context.ts";

type ListDefinition<T extends CommandArgs, Row> = Omit<CommandDefinition<T>, "run"> &
  Omit<ListView<Row>, "limit"> & {
    rows(ctx: Ctx, args: ArgValues<T> & StoreArgs): Promise<readonly Row[]>;
  };

interface Act<T extends CommandArgs, R> extends Omit<CommandDefinition<T>, "run"> {
  act(ctx: Ctx, args: ArgValues<T> & StoreArgs): Promise<R>;
  /** Default: prints the result as a record. */
  print?(console: Console, result: R): Promise<void>;
}

/** Defines a command that makes one call in a store, and prints the result. Its argument `namespace` names the store. */
export function defineAct<const T extends CommandArgs & Pick<CommandArgs, "namespace">, R extends object>(
  definition: Act<T, R>,
) {
  const { act, print = printRecord, ...rest } = definition;
  return defineCommand({
    ...rest,
    async run(args, console) {
      const values = args as ArgValues<T> & StoreArgs;
      await print(console, await withTenant(values, console, (ctx) => act(ctx, values)));
    },
  });
}

/** Defines a command that lists records of a store. In `empty`, `{namespace}` is replaced by the store's namespace. */
export function defineList<const T extends CommandArgs, Row>(definition: ListDefinition<T, Row>) {
  const { rows, columns, id, empty, ...rest } = definition;
  return defineCommand({
    ...rest,
    args: { namespace: requiredNamespaceArg, ...rest.args },
    async run(args, console) {
      const values = args as ArgValues<T> & StoreArgs & { limit?: number };
      const found = await withTenant(values, console, (ctx) => rows(ctx, values));
      const { namespace, limit } = values;
      await printList(console, found, { columns, id, empty: empty.replace("{namespace}", namespace), limit });
    },
  });
}
