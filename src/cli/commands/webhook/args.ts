import type { Ctx } from "../../../server/context.ts";
import type { addWebhook } from "../../../server/modules/webhooks/service.ts";
import { withTenant } from "../../context/context.ts";
import type { PositionalArg, SharedValues } from "../../framework/args.ts";
import { handOver } from "../../secrets/deliver.ts";
import type { Console } from "../../terminal/console.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { info, printRecord, warn } from "../../terminal/output.ts";

type NewWebhook = Awaited<ReturnType<typeof addWebhook>>;

/** The webhook that a command is about. */
export const webhookIdArg = {
  type: "positional",
  required: true,
  completes: "webhook",
  description: "Id of the webhook, or its address",
} as const satisfies PositionalArg;

/**
 * Runs work on the webhook that is named by id or address.
 * @throws notFound when the store has no such webhook, conflict for an address that several have.
 */
export function withWebhook<T>(
  args: SharedValues & { namespace: string; webhook_id: string },
  console: Console,
  work: (ctx: Ctx, id: string) => Promise<T>,
): Promise<T> {
  return withTenant(args, console, async (ctx) => {
    const { resolveWebhookId } = await import("../../../server/modules/webhooks/resolve.ts");
    return work(ctx, await resolveWebhookId(ctx, args.webhook_id));
  });
}

/**
 * Has a signing secret made in one transaction of the store, and hands it over exactly once, before that is committed:
 * into a file, or on standard output. `-q` prints the webhook's id, and the secret behind it where no file takes it.
 * @param prepare what takes its time and writes nothing; `make` gets what it answers.
 */
export async function deliverSigningSecret<P>(
  args: SharedValues & { namespace: string; "secret-file": string | undefined },
  console: Console,
  prepare: () => Promise<P>,
  make: (ctx: Ctx, prepared: P) => Promise<NewWebhook>,
): Promise<void> {
  const { inTransaction } = await import("../../../server/db/transaction.ts");
  const place = { path: args["secret-file"], flag: "--secret-file" };
  const { made, file } = await handOver(args, console, place, async (give) => {
    const prepared = await prepare();
    return withTenant(args, console, (ctx) =>
      inTransaction(ctx, async (tx) => {
        const webhook = await make(tx, prepared);
        await give(webhook.secret, () => showWebhook(console, webhook));
        return webhook;
      }),
    );
  });
  if (file === undefined) {
    if (!console.json) await warn(console, "The secret is shown this once; it cannot be read again.");
    return;
  }
  const { secret: _, ...webhook } = made;
  await printRecord(console, console.json ? { ...webhook, secret_file: file } : webhook, "webhook_id");
  await info(console, `The secret is in ${file}`);
}

function showWebhook(console: Console, webhook: NewWebhook): Promise<void> {
  if (!console.quiet || console.json) return printRecord(console, webhook, "webhook_id");
  return console.write(`${escapeControls(`${webhook.webhook_id} ${webhook.secret}`)}\n`);
}
