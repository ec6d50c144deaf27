import type { createClient } from "../../../client/client.ts";
import type { Ctx } from "../../../server/context.ts";
import { AppError, codeOf, errorKinds } from "../../../server/errors.ts";
import type { Event, EventListQuery } from "../../../server/modules/events/model.ts";
import { refuseSecret, type StoreArgs, withTenant } from "../../context/context.ts";
import { sinceArg } from "../../context/list-args.ts";
import { fileArg, requiredNamespaceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { readSecretFile } from "../../secrets/secrets.ts";
import { type Console, formatValue, invalidFlag, printList } from "../../terminal/console.ts";
import { escapeJson } from "../../terminal/text.ts";

const dayMs = 86_400_000;

export const tailCommand = defineCommand({
  description: "Print the events of a store, and with --follow new ones as they happen",
  args: {
    namespace: requiredNamespaceArg,
    types: valueArg("pattern", "Event type, such as order.paid or order.* (default: all)", { multiple: true }),
    since: { ...sinceArg, description: "Begin at a day, time, or duration before now (default: 24h; --follow: now)" },
    follow: { type: "boolean", alias: "f", description: "Print new events until ctrl-C" },
    url: valueArg("url", "Read the events of the server at this address"),
    "key-file": fileArg("With --url: a file with an app key as <app_id>:<app_secret>"),
  },
  examples: [
    "bodega event tail -n demo --since 7d --types 'order.*'",
    "bodega event tail -n demo -f --url https://shop.example.com --key-file shop.key",
  ],
  notes: [
    "Events are kept for 30 days. With --follow and --json, each event is one line of JSON.",
    "The key needs the scope events:read. `bodega key issue -q` prints a key as <app_id>:<app_secret>.",
  ],
  async run(args, console) {
    const { follow, types } = args;
    const start = follow ? undefined : new Date(Date.now() - dayMs).toISOString();
    const query = { since: args.since ?? start, ...(types.length > 0 && { types: types.join(",") }) };
    const print = (events: AsyncIterable<Event>) => printEvents(console, events, follow);
    if (args.url === undefined) return withTenant(args, console, (ctx) => print(readEvents(ctx, query, follow)));
    const client = await openClient(args, args.url);
    const fail = (error: Error & { code?: unknown }) => {
      const kind = errorKinds.find((one) => codeOf(one) === error.code);
      throw new AppError(kind ?? "unavailable", error.message, { cause: error });
    };
    await print(follow ? client.events(query) : client.events.list(query)).catch(fail);
  },
});

async function* readEvents(ctx: Ctx, query: EventListQuery, follow: boolean): AsyncGenerator<Event> {
  const { followEvents } = await import("../../../server/modules/events/service.ts");
  for await (const { records, isLast } of followEvents(ctx, query)) {
    yield* records;
    if (isLast && !follow) return;
  }
}

async function openClient(
  { namespace, "key-file": file }: StoreArgs & { "key-file": string | undefined },
  url: string,
): Promise<ReturnType<typeof createClient>> {
  refuseSecret("--url", url, "Name a file with the key: --key-file");
  if (file === undefined) throw invalidFlag("--key-file", "is required with --url");
  const [, id, secret] = /^(app_\w+):(\S+)$/.exec(readSecretFile(file, "--key-file")) ?? [];
  if (!id || !secret) throw invalidFlag("--key-file", "must contain <app_id>:<app_secret>");
  const { createClient: create } = await import("../../../client/client.ts");
  return create({ url, namespace, app: { id, secret } });
}

async function printEvents(console: Console, events: AsyncIterable<Event>, follow: boolean): Promise<void> {
  if (!follow) {
    return printList(console, await Array.fromAsync(events), {
      id: ({ id }) => id,
      empty: "No events found.",
      columns: ["created_at", "type", "subject", { header: "DATA", value: ({ data }) => formatValue(data) }],
    });
  }
  for await (const event of events) {
    const { id, type, subject, data, created_at: at } = event;
    const line = console.quiet ? id : `${at}  ${type.padEnd(16)}  ${subject}  ${formatValue(data)}`;
    await console.write(`${console.json ? escapeJson(JSON.stringify(event)) : line}\n`);
    if (!console.hasReader()) return;
  }
}
