import type { Ctx } from "../../../server/context.ts";
import type { Event, EventListQuery } from "../../../server/modules/events/model.ts";
import { withTenant } from "../../context/context.ts";
import { sinceArg } from "../../context/list-args.ts";
import { requiredNamespaceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { type Console, formatValue, printList } from "../../terminal/console.ts";
import { escapeJson } from "../../terminal/text.ts";

const dayMs = 86_400_000;

export const tailCommand = defineCommand({
  description: "Print the events of a store, and with --follow new ones as they happen",
  args: {
    namespace: requiredNamespaceArg,
    types: valueArg("pattern", "Event type, such as order.paid or order.* (default: all)", { multiple: true }),
    since: { ...sinceArg, description: "Begin at a day, time, or duration before now (default: 24h; --follow: now)" },
    follow: { type: "boolean", alias: "f", description: "Print new events until ctrl-C" },
  },
  examples: ["bodega event tail -n demo --since 7d --types 'order.*'", "bodega event tail -n demo -f"],
  notes: ["Events are kept for 30 days. With --follow and --json, each event is one line of JSON."],
  async run(args, console) {
    const { follow, types } = args;
    const start = follow ? undefined : new Date(Date.now() - dayMs).toISOString();
    const query = { since: args.since ?? start, ...(types.length > 0 && { types: types.join(",") }) };
    await withTenant(args, console, (ctx) => printEvents(console, readEvents(ctx, query, follow), follow));
  },
});

async function* readEvents(ctx: Ctx, query: EventListQuery, follow: boolean): AsyncGenerator<Event> {
  const { followEvents } = await import("../../../server/modules/events/service.ts");
  for await (const { records, isLast } of followEvents(ctx, query)) {
    yield* records;
    if (isLast && !follow) return;
  }
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
