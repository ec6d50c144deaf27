import type { Ctx } from "../../../server/context.ts";
import type { addWebhook } from "../../../server/modules/webhooks/service.ts";
import { withTenant } from "../../context/context.ts";
import type { PositionalArg, SharedValues } from "../../framework/args.ts";
import { deliverSecret } from "../../secrets/deliver.ts";
import type { Console } from "../../terminal/console.ts";

type NewWebhook = Awaited<ReturnType<typeof addWebhook>>;

/** The webhook that a command works on. */
export const webhookIdArg = {
  type: "positional",
  required: true,
  completes: "webhook",
  description: "Id or URL of the webhook",
} as const satisfies PositionalArg;

/**
 * Runs work on the webhook with this id or URL.
 * @throws notFound for an unknown webhook, conflict for a URL of several.
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

/** Creates a signing secret and delivers it once: to a file, or on standard output. */
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
