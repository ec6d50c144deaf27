import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Binary, openShop, useBinaries } from "../support/binary.ts";
import { certificate } from "../support/certificate.ts";
import { readVapid } from "../support/push-browser.ts";
import { type PushService, type Subscriber, startPushService } from "../support/push-service.ts";
import type { Serving } from "../support/serving.ts";
import { until } from "../support/until.ts";

const { installBinary } = useBinaries();
const password = "Vermilion-Kettle-4871";
const email = "ada@example.com";

/** The store, the server, the push service and the browser of the current test. */
let binary: Binary;
let server: Serving;
let auth: string;
let service: PushService;
let browser: Subscriber;

beforeEach(async () => {
  binary = installBinary();
  service = await startPushService(undefined, { secure: true });
  browser = service.subscribe();
  writeFileSync(join(binary.dir, "ca.pem"), certificate);
  binary.env.NODE_EXTRA_CA_CERTS = join(binary.dir, "ca.pem");
  ({ auth } = await openShop(binary));
  await binary.feed(password, "user", "create", "-n", "demo", "--email", email, "--password-stdin");
  server = await binary.serve("--workers", "2", "--allow-private-push", "--public-url", "https://shop.example.com");
}, 60_000);

afterEach(async () => {
  await server.end("SIGKILL");
  await service.close();
});

async function send<T>(path: string, body?: object, headers: Record<string, string> = {}): Promise<T> {
  const response = await fetch(`${server.url}${path}`, {
    ...(body && { method: "POST", body: JSON.stringify(body) }),
    headers: { "content-type": "application/json", ...headers },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
  return JSON.parse(text).data as T;
}

/** Registers the browser for its user. Returns the user's credentials and the server's public key. */
async function register(): Promise<{ credentials: URLSearchParams; publicKey: string }> {
  const { user_id, token } = await send<{ user_id: string; token: string }>("/auth/login/?namespace=demo", {
    email,
    password,
  });
  const offer = await send<{ vapid_public_key: string }>("/notifications/register/?namespace=demo");
  const credentials = new URLSearchParams({ namespace: "demo", user_id, token });
  const { subscription } = browser;
  const registration = { platform: "web", subscription, lang: "es-MX", topics: ["news"] };
  await send(`/notifications/register/?${credentials}`, registration);
  return { credentials, publicKey: offer.vapid_public_key };
}

/** Creates and pays an order of the user. Returns its number. */
async function payOrder(credentials: URLSearchParams): Promise<number> {
  const authorization = { authorization: auth };
  const { id: product_id } = await send<{ id: string }>(
    "/products/?namespace=demo",
    { title: "Lamp", price: 9 },
    authorization,
  );
  const items = [{ product_id, quantity: 1 }];
  const order = await send<{ id: string; number: number }>(`/orders/?${credentials}`, { items });
  await send(`/orders/${order.id}/pay/?namespace=demo`, {}, authorization);
  return order.number;
}

test("a browser that registered at a server with several processes is notified when its user's order is paid", async () => {
  const { credentials, publicKey } = await register();
  const number = await payOrder(credentials);
  const [message] = await until("the message", () => browser.messages().length > 0 && browser.messages());
  expect(message).toMatchObject({ title: "demo", body: `Hemos recibido el pago del pedido ${number}. ¡Gracias!` });
  const vapid = readVapid(service.received[0]?.headers.authorization ?? "", publicKey);
  expect(vapid).toMatchObject({ aud: service.origin, sub: "https://shop.example.com" });
});
