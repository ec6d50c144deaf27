import type { Ctx } from "../server/context.ts";
import type { addWebhook } from "../server/modules/webhooks/service.ts";
import type { PositionalArg, SharedValues } from "./args.ts";
import { withTenant } from "./context.ts";
import { escapeControls } from "./escape.ts";
import type { Io } from "./io.ts";
import { printRecord, remark, warn } from "./output.ts";
import { reserveSecretFile } from "./secret-file.ts";

type NewWebhook = Awaited<ReturnType<typeof addWebhook>>;

/** The webhook that a verb is about. */
export const webhookIdArg = {
  type: "positional",
  required: true,
  completes: "webhook",
  description: "Id of the webhook, or its address",
} as const satisfies PositionalArg;

/**
 * Runs work on the webhook that is named by id or address.
 * @throws AppError 5301 when the store has no such webhook, 5302 for an address that several have.
 */
export function withWebhook<T>(
  args: SharedValues & { namespace: string; webhook_id: string },
  io: Io,
  work: (ctx: Ctx, id: string) => Promise<T>,
): Promise<T> {
  return withTenant(args, io, async (ctx) => {
    const { resolveWebhookId } = await import("../server/modules/webhooks/resolve.ts");
    return work(ctx, await resolveWebhookId(ctx, args.webhook_id));
  });
}

/**
 * Has a signing secret made, and hands it over exactly once: into a file, or on standard output. `-q` prints the
 * webhook's id, and the secret behind it where no file takes it.
 */
export async function deliverSigningSecret(
  io: Io,
  path: string | undefined,
  make: () => Promise<NewWebhook>,
): Promise<void> {
  if (path === undefined) {
    const webhook = await make();
    if (io.quiet && !io.json) await io.write(`${escapeControls(`${webhook.webhook_id} ${webhook.secret}`)}\n`);
    else await printRecord(io, webhook, "webhook_id");
    if (!io.json) await warn(io, "The secret is shown this once; it cannot be read again.");
    return;
  }
  const file = await reserveSecretFile(path, { flag: "--secret-file", again: "bodega webhook rotate <webhook_id>" });
  const made = await make().catch(async (error) => {
    await file.discard();
    throw error;
  });
  await file.save(made.secret);
  const { secret: _, ...webhook } = made;
  await printRecord(io, io.json ? { ...webhook, secret_file: file.path } : webhook, "webhook_id");
  await remark(io, `The secret is in ${file.path}`);
}
