import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../../server/config/config.ts";
import { envFilePath } from "../../../server/config/environment.ts";
import type { Ctx } from "../../../server/context.ts";
import { previewMails } from "../../../server/modules/mail/preview.ts";
import { connectStripe } from "../../../server/modules/payments/stripe/connect.ts";
import { bindPort } from "../../../server/runtime/port.ts";
import { postWebhook, startStripeStandIn } from "./stripe-stand-in/stand-in.ts";

const key = "sk_test_demo_charges_no_card";
/** Styles of mails are inline. They run no script, and load pictures only. */
const safety = { "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src http: https:" };

/**
 * Starts what the demo has instead of Stripe and a mailbox: a page to pay on, and a page with the mail that would have
 * been sent. The books of the payments are kept in the data directory. Errors: unavailable if the port is in use.
 */
export async function startDemoServices(config: Config, given: number | undefined) {
  const port = given ?? (config.port === 0 ? 0 : config.port + 2);
  const file = join(config.dataDir, "demo-payments.json");
  let store: Ctx | undefined;
  const bind = { ...config, port, flag: "--payment-port" };
  const stripe = await startStripeStandIn({
    port,
    host: config.host,
    around: async (_, work) => {
      const reply = work();
      save();
      return reply;
    },
    send: (webhook) => {
      save();
      void postWebhook(webhook, Date.now());
    },
    page: async (path) => (store && /^\/mail(?:\/|$)/.test(path) ? showMail(store, path.slice(6)) : undefined),
  }).catch((cause: unknown) =>
    bindPort(bind, () => {
      throw cause;
    }),
  );
  const save = () => writeFileSync(file, JSON.stringify(stripe.test.lists), { mode: 0o600 });
  if (existsSync(file)) Object.assign(stripe.test.lists, JSON.parse(readFileSync(file, "utf8")));
  return {
    url: stripe.url,
    mailUrl: `${stripe.url}/mail`,
    /** Connects the store with the stand-in, which then sends its events to the server at `publicUrl`. */
    async connect(ctx: Ctx, publicUrl: string): Promise<void> {
      store = ctx;
      keepAddress(config.dataDir, stripe.url);
      await connectStripe({ ...ctx, payments: { stripeUrl: stripe.url, publicUrl } }, { key, replace: true });
    },
    stop: stripe.stop,
  };
}

/** Commands that work on the data directory ask the stand-in, too. */
function keepAddress(dataDir: string, url: string): void {
  const path = envFilePath(dataDir);
  const lines = existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
  const others = lines.filter((line) => !line.startsWith("BODEGA_STRIPE_URL="));
  writeFileSync(path, `${[...others, `BODEGA_STRIPE_URL=${url}`].join("\n")}\n`, { mode: 0o600 });
}

async function showMail(store: Ctx, id: string) {
  const mails = await previewMails(store);
  const mail = mails.find((one) => one.id === id);
  if (mail) return { headers: safety, html: mail.html };
  const items = mails.map(({ id: one, subject, to, created_at }) => {
    const text = Bun.escapeHTML(`${created_at.slice(0, 16).replace("T", " ")} UTC, to ${to}`);
    return `<li><a href="/mail/${one}">${Bun.escapeHTML(subject)}</a><br>${text}`;
  });
  const list = items.length === 0 ? "<p>No mail yet.</p>" : `<ul>${items.join("")}</ul>`;
  const head = `<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width">`;
  const title = "Mail of the demo";
  const note = "This demo sends no mail. These would have been sent; reload the page to see new ones.";
  const style = `<link rel=stylesheet href=/pay-page.css>`;
  return {
    html: `${head}<title>${title}</title>${style}<main><h1>${title}</h1><p class=test>${note}</p>${list}</main></html>`,
  };
}
