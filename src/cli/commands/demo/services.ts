import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../../server/config/config.ts";
import { writeWhole } from "../../../server/config/data-dir.ts";
import { envFilePath } from "../../../server/config/environment.ts";
import type { Ctx } from "../../../server/context.ts";
import { wrongState } from "../../../server/errors.ts";
import { previewMails } from "../../../server/modules/mail/preview.ts";
import { connectStripe } from "../../../server/modules/payments/stripe/connect.ts";
import { addressOf, bindPort } from "../../../server/runtime/port.ts";
import mailPage from "./mail-page-html.txt" with { type: "text" };
import { answerPayPage, type Page, pageHeaders } from "./stripe-stand-in/pay-page.ts";
import { openStripeStandIn } from "./stripe-stand-in/stand-in.ts";

const key = "sk_test_demo_charges_no_card";
/** The Content-Security-Policy of a shown mail. It allows inline styles and pictures, but no scripts. */
const mailSafety = "default-src 'none'; style-src 'unsafe-inline'; img-src http: https:";

/**
 * Starts the server that replaces Stripe and the mailbox in the demo. It has a payment page and a page of the queued
 * mail, and saves the payments in the data directory. Errors: unavailable if the port is in use.
 */
export async function startDemoServices(config: Config, given: number | undefined) {
  const port = given ?? (config.port === 0 ? 0 : config.port + 2);
  const file = join(config.dataDir, "demo-payments.json");
  let store: { ctx: Ctx; url: string } | undefined;
  const stripe = openStripeStandIn({ now: Date.now, page: () => `${url}/c/pay` });
  // Saves changes and replies in one file. If the server repeats a request after a crash, it gets the saved reply.
  const save = () => writeWhole(config.dataDir, file, JSON.stringify(stripe.books.lists));
  if (existsSync(file)) Object.assign(stripe.books.lists, readPayments(file));

  async function answer(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    const text = await request.text();
    if (pathname.startsWith("/v1/")) {
      const call = `${method} ${pathname.slice(4)}`;
      const [authorization, key] = [headers.get("authorization"), headers.get("idempotency-key")];
      const sent = method === "POST" ? text : search.slice(1);
      const { status, body } = stripe.answer({ call, text: sent, authorization, key });
      save();
      return new Response(body, { status, headers: { "Content-Type": "application/json" } });
    }
    const act = method === "POST" ? new URLSearchParams(text).get("act") : null;
    const page: Page =
      store && /^\/mail(?:\/|$)/.test(pathname)
        ? await showMail(store, pathname.slice(6))
        : answerPayPage(stripe.books, pathname, act, headers.get("accept-language"));
    save();
    return new Response(page.html ?? null, { ...page, headers: { ...pageHeaders, ...page.headers } });
  }

  const bind = { ...config, port, flag: "--payment-port" };
  const server = bindPort(bind, () => Bun.serve({ hostname: config.host, port, fetch: answer }));
  const url = addressOf({ host: config.host, port: server.port as number, tls: undefined });
  saveAddress(config.dataDir, url);
  return {
    url,
    mailUrl: `${url}/mail`,
    /** Connects the store with the simulated Stripe. The mails then link to the server at `publicUrl`. */
    async connect(ctx: Ctx, publicUrl: string): Promise<void> {
      store = { ctx, url: publicUrl };
      await connectStripe({ ...ctx, payments: { stripeUrl: url } }, { key });
    },
    stop: () => server.stop(true),
  };
}

function readPayments(file: string): object {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw wrongState(`${file} is damaged.`, { cause, remedy: "Delete it. Its test payments are then forgotten." });
  }
}

/** Saves the address of the simulated Stripe in `bodega.env`, so that commands also call it. */
function saveAddress(dataDir: string, url: string): void {
  const path = envFilePath(dataDir);
  const lines = existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
  const others = lines.filter((line) => !line.startsWith("BODEGA_STRIPE_URL="));
  writeWhole(dataDir, path, `${[...others, `BODEGA_STRIPE_URL=${url}`].join("\n")}\n`);
}

async function showMail({ ctx, url }: { ctx: Ctx; url: string }, id: string): Promise<Page> {
  const mails = await previewMails(ctx, url);
  const mail = mails.find((one) => one.id === id);
  if (mail) return { headers: { "Content-Security-Policy": mailSafety }, html: mail.html };
  const items = mails.map(({ id: one, subject, to, created_at }) => {
    const text = Bun.escapeHTML(`${created_at.slice(0, 16).replace("T", " ")} UTC, to ${to}`);
    return `<li><a href="/mail/${one}">${Bun.escapeHTML(subject)}</a><br>${text}`;
  });
  const list = items.length === 0 ? "<p>No mail yet.</p>" : `<ul>${items.join("")}</ul>`;
  return { html: mailPage.replace("{list}", () => list) };
}
