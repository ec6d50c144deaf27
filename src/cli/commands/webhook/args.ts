import type { Ctx } from "../../../server/context.ts";
import type { addWebhook } from "../../../server/modules/webhooks/service.ts";
import { withTenant } from "../../context/context.ts";
import type { PositionalArg, SharedValues } from "../../framework/args.ts";
import { deliverSecret } from "../../secrets/deliver.ts";
import type { Console } from "../../terminal/console.ts";

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

/** Makes a signing secret, and delivers it once: into a file, or on standard output. */
export async function deliverSigningSecret(
  args: SharedValues & { namespace: string; "secret-file": string | undefined },
  console: Console,
  make: (ctx: Ctx) => Promise<NewWebhook>,
): Promise<void> {
  const shape = {
    idField: "webhook_id",
    secretField: "secret",
    separator: " ",
    renew: ({ webhook_id }: NewWebhook) => `webhook rotate -n ${args.namespace} ${webhook_id} --yes`,
  } as const;
  const place = { flag: "--secret-file", path: args["secret-file"] } as const;
  await deliverSecret(console, place, shape, () => withTenant(args, console, make));
}
