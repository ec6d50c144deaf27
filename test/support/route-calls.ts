import { createHmac } from "node:crypto";
import { updateTenant } from "../../src/server/modules/tenants/service.ts";
import { type Account, goodPassword, openAccount, otherPassword } from "./account.ts";
import type { ApiReply, CallOptions } from "./client.ts";
import { newAddress } from "./client.ts";
import type { Shop } from "./factories.ts";
import { unlimitedOrders } from "./orders.ts";
import { requestCode } from "./password-reset.ts";
import { connectShop, returnUrls } from "./pay-shop.ts";
import { newPng, upload } from "./pictures.ts";
import { newSubscription, registerWith } from "./registrations.ts";
import { readCode, signUp } from "./sign-up.ts";
import { makeUser } from "./users.ts";

/** A valid call of a route. */
export interface RouteCall {
  /** Such as `"GET /products/prod_…/"`. */
  request: string;
  query?: Record<string, string>;
  body?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** A file, by default a PNG, instead of `body`. */
  raw?: Uint8Array<ArrayBuffer>;
  /** The user who makes the call. Default: the store's key. */
  by?: Account;
  /** Whether only the store and its customer in these tests may see the record. */
  isOwned?: boolean;
  /** The status of a success, if it differs from the route's usual status because the record exists already. */
  status?: number;
}

/** A store with users, for which calls create records. */
export interface World {
  shop: Shop;
  customer: Account;
  owner: Account;
}

/** Opens a store with a customer and an owner. */
export async function openWorld(shop: Shop): Promise<World> {
  // The limits of unpaid orders are off, because each call creates an order.
  await updateTenant(shop.app.system, shop.namespace, { ...unlimitedOrders, invoiceFrom: "Kiln, 1 Street, Berlin" });
  return { shop, customer: await openAccount(shop), owner: await openAccount(shop, { role: "owner" }) };
}

/** Makes a call as its caller. Can add to the query or the headers. */
export function makeCall(
  { shop }: Pick<World, "shop">,
  { request, query, body, raw, headers, by }: RouteCall,
  more: Pick<CallOptions, "query" | "headers"> = {},
): Promise<ApiReply> {
  const credentials: Record<string, string> = by ? { user_id: by.id, token: by.token } : {};
  return (by ? shop.callAnonymously : shop.call)(request, {
    query: { ...query, ...credentials, ...(more.query as object) },
    ...(body && { body }),
    ...(raw && { raw }),
    headers: { ...(raw && { "content-type": "image/png" }), ...headers, ...more.headers },
  });
}

async function makePicture({ shop }: World): Promise<string> {
  return (await upload(shop.call)).data.id;
}

interface OrderMade {
  id: string;
  number: number;
  items: { id: string }[];
}

/** Creates a product that needs no shipping, because a call sets shipping rates, which orders would then need. */
async function makeProduct({ shop }: World, fields: Record<string, unknown> = {}): Promise<string> {
  return (await shop.createProduct({ title: "Contraband", stock: 50, requires_shipping: false, ...fields })).id;
}

async function makeCategory({ shop }: World): Promise<string> {
  const { data, text } = await shop.call("POST /categories/", { body: { title: `Contraband ${++numbers}` } });
  if (!data?.id) throw new Error(`The category was not made: ${text}`);
  return data.id as string;
}

async function makeVariant(world: World): Promise<{ path: string; id: string }> {
  const product = await makeProduct(world, { stock: undefined });
  const body = { title: "Contraband in red", price: 3, stock: 5 };
  const { data, text } = await world.shop.call(`POST /products/${product}/variants/`, { body });
  if (!data?.id) throw new Error(`The variant was not made: ${text}`);
  return { path: `/products/${product}/variants/`, id: data.id as string };
}

async function makeOrder(world: World, upTo: "pending" | "paid" = "pending"): Promise<OrderMade> {
  const items = [{ product_id: await makeProduct(world), quantity: 2 }];
  const { shop, customer } = world;
  const { data, text } = await shop.call<OrderMade>("POST /orders/", { body: { items, customer_id: customer.id } });
  if (!data) throw new Error(`The order was not made: ${text}`);
  if (upTo === "paid") await shop.call(`POST /orders/${data.id}/pay/`, { body: {} });
  return data;
}

async function ofOrder(
  world: World,
  action: string,
  upTo?: "paid",
  body?: Record<string, unknown>,
): Promise<RouteCall> {
  const { id } = await makeOrder(world, upTo);
  return { request: `POST /orders/${id}/${action}/`, isOwned: true, ...(body && { body }) };
}

/** An order that was paid by card, and its refund, which the bank refused later. */
async function failRefund(world: World): Promise<{ id: string; refund: string }> {
  const { shop } = world;
  const { stripe } = await connectShop(shop);
  const { id } = await makeOrder(world);
  const check = () => shop.call<{ refunds: { id: string }[] }>(`POST /orders/${id}/checkout/check/`);
  const page = await shop.call<{ url: string }>(`POST /orders/${id}/checkout/`, { body: returnUrls });
  stripe.pay(page.data.url.split("/").at(-1) as string);
  await check();
  const intent = String(stripe.books.lists.payment_intents.at(-1)?.id);
  const made = stripe.refundInDashboard(intent, 100, "pending");
  await check();
  stripe.finishRefund(made.id, "failed");
  const { data, text } = await check();
  // Later webhook calls would change records while a test compares them.
  await stripe.settle();
  if (!data?.refunds[0]) throw new Error(`The refund was not made: ${text}`);
  return { id, refund: data.refunds[0].id };
}

/** A parcel with one piece of a paid order, and the path of the parcel. */
async function makeParcel(world: World): Promise<string> {
  const { id, items } = await makeOrder(world, "paid");
  const body = { lines: [{ line_id: items[0]?.id, quantity: 1 }] };
  const path = `/orders/${id}/fulfillments/`;
  const { data, text } = await world.shop.call<{ fulfillments: { id: string }[] }>(`POST ${path}`, { body });
  if (!data?.fulfillments) throw new Error(`The parcel was not made: ${text}`);
  return `${path}${data.fulfillments[0]?.id}/`;
}

/** Creates an order from which the customer withdraws. */
async function makeWithdrawn(world: World): Promise<string> {
  const { id, number } = await makeOrder(world);
  const body = { number, email: world.customer.email, name: "Ada" };
  const { error, text } = await world.shop.call("POST /orders/withdrawals/", { body, address: newAddress() });
  if (error) throw new Error(`The withdrawal was not recorded: ${text}`);
  return id;
}

async function makeDiscount({ shop }: World): Promise<string> {
  const { data, text } = await shop.call("POST /discounts/", { body: { code: `CONTRABAND-${++numbers}`, percent: 5 } });
  if (!data?.id) throw new Error(`The discount code was not made: ${text}`);
  return data.id as string;
}

const shippingRates = () => ({
  rates: [{ zone: "Everywhere", countries: ["*"], name: `By post ${++numbers}`, price: 4 }],
});
const taxRates = () => ({ rates: [{ class: "standard", country: "DE", rate: 19 }] });

async function setRates({ shop }: World, request: string, body: object): Promise<void> {
  const { error, text } = await shop.call(request, { body });
  if (error) throw new Error(`The rates were not set: ${text}`);
}

async function makeCustomer({ shop }: World): Promise<string> {
  return (await makeUser(shop, { name: "Contraband" })).id;
}

const ofCustomer = ({ customer }: World) => ({ customer_id: customer.id });

/** Gives the customer points. Returns the customer. */
async function givePoints(world: World): Promise<{ customer_id: string }> {
  const body = { points: 10, note: "Contraband", ...ofCustomer(world) };
  const { error, text } = await world.shop.call("POST /rewards/adjust/", { body });
  if (error) throw new Error(`The points were not given: ${text}`);
  return ofCustomer(world);
}

/** Additional calls of some routes, which run other statements than the first call. */
const moreCalls: Record<string, ((world: World) => Promise<RouteCall>)[]> = {
  createOrder: [
    async (world) => ({
      request: "POST /orders/",
      body: { items: [{ variant_id: (await makeVariant(world)).id, quantity: 1 }] },
    }),
    async (world) => ({
      request: "POST /orders/",
      query: { dry_run: "true" },
      body: { items: [{ product_id: await makeProduct(world), quantity: 1 }] },
    }),
  ],
  sendNotification: [
    async () => ({ request: "POST /notifications/send/", body: { ...notice, topic: "sale" } }),
    async () => ({
      request: "POST /notifications/send/",
      query: { dry_run: "true" },
      body: { ...notice, everyone: true },
      status: 200,
    }),
  ],
  refundOrder: [async (world) => ofOrder(world, "refund", "paid", {})],
  listProducts: [
    async (world) => {
      const category = await makeCategory(world);
      await makeProduct(world, { category_ids: [category], tags: ["contraband"] });
      const query = { category, tag: "contraband", facets: "tags,categories,price", include_total: "true" };
      return { request: "GET /products/", query };
    },
    async (world) => {
      await makeProduct(world);
      return { request: "GET /products/", query: { q: "contrabnad", sort: "relevance" } };
    },
  ],
  listShippingRates: [
    async (world) => {
      await setRates(world, "PUT /shipping/rates/", shippingRates());
      return { request: "GET /shipping/rates/", query: { country: "DE", value: "20" } };
    },
  ],
  getLikes: [(world) => likes.getOne(world)],
  getBookmarks: [(world) => bookmarks.getOne(world)],
};

/** Returns all known calls of a route. */
export function callsOf(route: { id: string }): ((world: World) => Promise<RouteCall>)[] {
  const usual = routeCalls[route.id];
  return [...(usual ? [usual] : []), ...(moreCalls[route.id] ?? [])];
}

const ofOwner = (world: World) => ({ query: ofCustomer(world), isOwned: true });

/** Adds a product to the customer's wishlist. Returns the path of the item. */
async function makeWish(world: World): Promise<string> {
  const id = await makeProduct(world);
  const body = { product_id: id, note: "Contraband", ...ofCustomer(world) };
  const { error, text } = await world.shop.call("POST /wishlist/", { body });
  if (error) throw new Error(`The wish was not made: ${text}`);
  return `/wishlist/${id}/`;
}

const ofProduct = (id: string) => ({ resource_type: "product", resource_id: id });

/** Makes calls for likes or bookmarks: the customer lists, a new visitor adds, the customer removes. */
function reactionCalls(path: "/likes/" | "/bookmarks/") {
  const make = async (world: World) => {
    const about = ofProduct(await makeProduct(world));
    await world.customer.call(`POST ${path}`, { body: about });
    return about;
  };
  return {
    get: async (world: World) => {
      for (let n = 0; n < 2; n++) await make(world);
      return { request: `GET ${path}`, by: world.customer, isOwned: true };
    },
    getOne: async (world: World) => ({ request: `GET ${path}`, query: await make(world) }),
    add: async (world: World) => ({ request: `POST ${path}`, body: ofProduct(await makeProduct(world)) }),
    remove: async (world: World) => ({ request: `DELETE ${path}`, query: await make(world), by: world.customer }),
  };
}
const likes = reactionCalls("/likes/");
const bookmarks = reactionCalls("/bookmarks/");

const notice = { title: "Sale", body: "Lamps for half" };

/** Sends a message to the topic `sale`. Returns its id. */
async function sendNotice({ shop }: World): Promise<string> {
  const { data, text } = await shop.call("POST /notifications/send/", {
    body: { ...notice, title: "Contraband", topic: "sale" },
  });
  if (!data?.id) throw new Error(`The message was not sent: ${text}`);
  return data.id as string;
}

/** Registers a browser without a user. Returns path and secret. */
async function makeRegistration({ shop }: World): Promise<{ path: string; proof: { management_secret: string } }> {
  const { id, management_secret } = await registerWith(shop.callAnonymously);
  return { path: `/notifications/register/${id}/`, proof: { management_secret } };
}

let numbers = 0;
const mailText = { kind: "order_paid", language: "en", subject: "Contraband", heading: null, paragraphs: ["Hello"] };
const lamp = () => ({ title: `Lamp ${++numbers}`, price: 2 });

type Make = (world: World) => Promise<RouteCall>;
/** Makes a call that needs no record. */
const plain =
  (request: string, make?: () => Record<string, unknown>): Make =>
  async () => ({ request, ...(make && { body: make() }) });
/** Makes a call at the path of a new record. */
const at =
  (start: string, make: (world: World) => Promise<string>, body?: () => Record<string, unknown>): Make =>
  async (world) => ({ request: `${start}${await make(world)}/`, ...(body && { body: body() }) });
/** Makes a list of two new records. */
const listOf =
  (request: string, make: (world: World) => unknown, describe?: (world: World) => Partial<RouteCall>): Make =>
  async (world) => {
    for (let n = 0; n < 2; n++) await make(world);
    return { request, ...describe?.(world) };
  };
const variantPath = async (world: World) => {
  const { path, id } = await makeVariant(world);
  return `${path}${id}`;
};
/** Makes a call by a new user, whose token or settings the call may change. */
const byNewUser =
  (request: string, body?: Record<string, unknown>): Make =>
  async ({ shop }) => ({ request, ...(body && { body }), by: await openAccount(shop) });
/** Makes a call by a new user with two-factor sign-in, and with the code. */
const withCode =
  (request: string): Make =>
  async ({ shop }) => {
    const by = await openAccount(shop);
    await by.enrol();
    return { request, body: { password: goodPassword, otp: await by.code() }, by };
  };

/** Functions that make a successful call of each route, by the route's id. Each creates the records that it needs. */
export const routeCalls: Record<string, Make> = {
  // Products
  listProducts: listOf("GET /products/", makeProduct),
  getProduct: at("GET /products/", makeProduct),
  createProduct: plain("POST /products/", lamp),
  replaceProduct: at("PUT /products/", makeProduct, lamp),
  patchProduct: at("PATCH /products/", makeProduct, () => ({ stock: 3 })),
  deleteProduct: at("DELETE /products/", makeProduct),
  // Categories
  listCategories: listOf("GET /categories/", makeCategory),
  getCategory: at("GET /categories/", makeCategory),
  createCategory: plain("POST /categories/", () => ({ title: `Brochures ${++numbers}` })),
  patchCategory: async (world) => ({
    request: `PATCH /categories/${await makeCategory(world)}/`,
    body: { parent_id: await makeCategory(world) },
  }),
  deleteCategory: at("DELETE /categories/", makeCategory),
  // The store
  getStore: plain("GET /store/"),
  // Variants
  listVariants: async (world) => ({ request: `GET ${(await makeVariant(world)).path}` }),
  addVariant: async (world) => ({
    request: `POST ${(await makeVariant(world)).path}`,
    body: { options: { size: `M${++numbers}` }, price: 2 },
  }),
  getVariant: at("GET ", variantPath),
  patchVariant: at("PATCH ", variantPath, () => ({ stock: 3 })),
  deleteVariant: at("DELETE ", variantPath),
  // Pictures
  uploadMedia: async () => ({ request: "POST /media/", raw: newPng() }),
  getMedia: async (world) => ({ request: `GET /media/${await makePicture(world)}/320.webp` }),
  // Orders
  listOrders: listOf("GET /orders/", makeOrder, () => ({ isOwned: true })),
  reportSales: async () => ({ request: "GET /reports/sales/" }),
  getOrder: async (world) => ({ request: `GET /orders/${(await makeOrder(world)).id}/`, isOwned: true }),
  createOrder: async (world) => ({
    request: "POST /orders/",
    body: { items: [{ product_id: await makeProduct(world), quantity: 1 }] },
  }),
  cancelOrder: (world) => ofOrder(world, "cancel"),
  payOrder: (world) => ofOrder(world, "pay", undefined, {}),
  openCheckout: async (world) => {
    await connectShop(world.shop);
    return ofOrder(world, "checkout", undefined, returnUrls);
  },
  checkPayment: (world) => ofOrder(world, "checkout/check"),
  retryRefund: async (world) => {
    const { id, refund } = await failRefund(world);
    return { request: `POST /orders/${id}/refund/${refund}/retry/` };
  },
  receiveStripeEvent: async ({ shop }) => {
    const { stripe } = await connectShop(shop);
    const at = Math.floor(shop.app.clock.now() / 1000);
    const object = { id: "ch_of_another_shop", object: "charge", payment_intent: null };
    const event = {
      id: "evt_1",
      object: "event",
      type: "charge.refunded",
      livemode: false,
      created: at,
      data: { object },
    };
    const text = JSON.stringify(event);
    const secret = String(stripe.books.lists.webhook_endpoints.at(-1)?.hidden?.secret);
    const signature = createHmac("sha256", secret).update(`${at}.${text}`).digest("hex");
    const headers = { "content-type": "application/json", "stripe-signature": `t=${at},v1=${signature}` };
    return { request: "POST /payments/stripe/", raw: new Uint8Array(Buffer.from(text)), headers };
  },
  fulfillOrder: (world) => ofOrder(world, "fulfill", "paid"),
  refundOrder: async (world) => {
    const { id, items } = await makeOrder(world, "paid");
    const body = { lines: [{ line_id: items[0]?.id, quantity: 1 }], restock: true };
    return { request: `POST /orders/${id}/refund/`, body, isOwned: true };
  },
  correctOrder: async (world) => ({
    request: `PATCH /orders/${(await makeOrder(world)).id}/`,
    body: { staff_note: "Contraband goes to the neighbour" },
    isOwned: true,
  }),
  createFulfillment: (world) =>
    ofOrder(world, "fulfillments", "paid", { tracking: { carrier: "DHL", number: "00340434161094" } }),
  updateFulfillment: async (world) => ({
    request: `PATCH ${await makeParcel(world)}`,
    body: { tracking: { carrier: "DHL", number: "00340434161094" } },
    isOwned: true,
  }),
  deleteFulfillment: async (world) => ({ request: `DELETE ${await makeParcel(world)}`, isOwned: true }),
  resolveAttention: async (world) => ({
    request: `POST /orders/${await makeWithdrawn(world)}/attention/`,
    body: { kind: "withdrawal", action: "accept", note: "Contraband comes back" },
    isOwned: true,
  }),
  issueInvoices: async (world) => ({
    request: `POST /orders/${(await makeOrder(world, "paid")).id}/invoice/`,
    isOwned: true,
  }),
  mailOrderLink: async (world) => ({
    request: "POST /orders/access/",
    body: { number: (await makeOrder(world)).number, email: world.customer.email },
  }),
  listWithdrawals: listOf("GET /orders/withdrawals/", makeWithdrawn),
  listTodo: async ({ owner }) => ({ request: "GET /todo/", by: owner }),
  recordWithdrawal: async (world) => ({
    request: "POST /orders/withdrawals/",
    body: { number: (await makeOrder(world)).number, email: world.customer.email, name: "Ada" },
  }),
  // Settings
  listMailTemplates: async ({ owner }) => ({ request: "GET /mail/templates/", by: owner }),
  setMailTemplate: async ({ owner }) => ({ request: "PUT /mail/templates/", body: mailText, by: owner }),
  listShippingRates: async (world) => {
    await setRates(world, "PUT /shipping/rates/", shippingRates());
    return { request: "GET /shipping/rates/" };
  },
  replaceShippingRates: plain("PUT /shipping/rates/", shippingRates),
  listTaxRates: async (world) => {
    await setRates(world, "PUT /taxes/rates/", taxRates());
    return { request: "GET /taxes/rates/" };
  },
  replaceTaxRates: plain("PUT /taxes/rates/", taxRates),
  listDiscounts: listOf("GET /discounts/", makeDiscount),
  createDiscount: plain("POST /discounts/", () => ({ code: `SUMMER-${++numbers}`, percent: 10 })),
  getDiscount: at("GET /discounts/", makeDiscount),
  endDiscount: async (world) => ({ request: `POST /discounts/${await makeDiscount(world)}/end/` }),
  // The change feed
  listEvents: listOf("GET /events/", makeProduct),
  // Rewards
  getRewards: async (world) => ({ request: "GET /rewards/", query: await givePoints(world), isOwned: true }),
  listRewardEntries: listOf("GET /rewards/history/", givePoints, ofOwner),
  redeemPoints: async (world) => ({
    request: "POST /rewards/redeem/",
    body: { points: 1, ...(await givePoints(world)) },
    isOwned: true,
  }),
  adjustRewards: async (world) => ({
    request: "POST /rewards/adjust/",
    body: { points: 2, note: "Sorry", ...ofCustomer(world) },
    isOwned: true,
  }),
  // Wishlist
  listWishlist: listOf("GET /wishlist/", makeWish, ofOwner),
  addToWishlist: async (world) => ({
    request: "POST /wishlist/",
    body: { product_id: await makeProduct(world), ...ofCustomer(world) },
    isOwned: true,
  }),
  getWishlistItem: async (world) => ({ request: `GET ${await makeWish(world)}`, ...ofOwner(world) }),
  putOnWishlist: async (world) => ({
    request: `PUT ${await makeWish(world)}`,
    ...ofOwner(world),
    body: { note: "Red" },
    status: 200,
  }),
  removeFromWishlist: async (world) => ({ request: `DELETE ${await makeWish(world)}`, ...ofOwner(world) }),
  // Likes and bookmarks
  getLikes: likes.get,
  addLike: likes.add,
  removeLike: likes.remove,
  getBookmarks: bookmarks.get,
  addBookmark: bookmarks.add,
  removeBookmark: bookmarks.remove,
  // Views
  getViews: async (world) => ({ request: "GET /views/", query: ofProduct(await makeProduct(world)) }),
  recordView: async (world) => ({ request: "POST /views/", body: ofProduct(await makeProduct(world)) }),
  // Messages to devices
  sendNotification: async ({ customer }) => ({
    request: "POST /notifications/send/",
    body: { ...notice, customer_id: customer.id },
  }),
  listNotifications: listOf("GET /notifications/messages/", sendNotice),
  getNotification: at("GET /notifications/messages/", sendNotice),
  // Notifications
  getPushOffer: plain("GET /notifications/register/"),
  registerDevice: plain("POST /notifications/register/", () => ({
    platform: "web",
    subscription: newSubscription(),
    topics: ["sale"],
  })),
  changeRegistration: async (world) => {
    const { path, proof } = await makeRegistration(world);
    return { request: `PATCH ${path}`, body: { ...proof, topics: ["sale"] } };
  },
  removeRegistration: async (world) => {
    const { path, proof } = await makeRegistration(world);
    return { request: `DELETE ${path}`, body: proof };
  },
  listOwnDevices: listOf(
    "GET /users/me/devices/",
    ({ customer }) => registerWith(customer.call),
    ({ customer }) => ({ by: customer, isOwned: true }),
  ),
  removeOwnDevice: async ({ customer }) => {
    const { id } = await registerWith(customer.call);
    return { request: `DELETE /users/me/devices/${id}/`, by: customer, isOwned: true };
  },
  // Users
  listUsers: listOf("GET /users/", makeCustomer),
  getUser: at("GET /users/", makeCustomer),
  createUser: plain("POST /users/", () => ({ email: `new-${++numbers}@example.com` })),
  inviteUser: plain("POST /users/invite/", () => ({ email: `invited-${++numbers}@example.com` })),
  patchUser: at("PATCH /users/", makeCustomer, () => ({ name: "Eve" })),
  deleteUser: at("DELETE /users/", makeCustomer),
  getOwnProfile: async ({ customer }) => ({ request: "GET /users/me/", by: customer }),
  patchOwnProfile: async ({ customer }) => ({ request: "PATCH /users/me/", body: { name: "Ada" }, by: customer }),
  verifyOwnEmail: async ({ shop }) => {
    const by = await openAccount(shop);
    await by.call("PATCH /users/me/", { body: { email: `moved-${++numbers}@example.com`, password: goodPassword } });
    return { request: "POST /users/me/email/verify/", body: { code: await readCode(shop, "email_code") }, by };
  },
  resendEmailCode: byNewUser("POST /users/me/email/resend/"),
  exportOwnData: async ({ customer }) => ({ request: "GET /users/me/export/", by: customer }),
  eraseOwnAccount: byNewUser("POST /users/me/erase/", { password: goodPassword }),
  exportUserData: async (world) => ({ request: `GET /users/${await makeCustomer(world)}/export/` }),
  eraseUser: async (world) => ({ request: `POST /users/${await makeCustomer(world)}/erase/` }),
  // Sign-up
  signUp: plain("POST /users/sign-up/", () => ({
    email: `signed-up-${++numbers}@example.com`,
    password: goodPassword,
  })),
  verifySignUp: async ({ shop }) => {
    const email = `verified-${++numbers}@example.com`;
    await signUp(shop, email);
    const code = await readCode(shop, "sign_up_code");
    return { request: "POST /users/verify/", body: { email, password: goodPassword, code } };
  },
  resendSignUpCode: plain("POST /users/verify/resend/", () => ({ email: "ada@example.com" })),
  // Sign-in. Calls that end a token create their own user.
  changeOwnPassword: byNewUser("POST /users/me/password/", {
    current_password: goodPassword,
    password: otherPassword,
  }),
  requestLoginCode: async ({ shop, customer }) => {
    await updateTenant(shop.app.system, shop.namespace, { signInByMail: "on" });
    return { request: "POST /auth/code/", body: { email: customer.email } };
  },
  login: async ({ shop }) => ({
    request: "POST /auth/login/",
    body: { email: (await openAccount(shop)).email, password: goodPassword },
  }),
  refreshToken: byNewUser("POST /auth/refresh/", {}),
  logout: byNewUser("POST /auth/logout/", {}),
  forgotPassword: async ({ customer }) => ({ request: "POST /auth/password/forgot/", body: { email: customer.email } }),
  resetPassword: async ({ shop }) => {
    const { email } = await openAccount(shop);
    const body = { email, code: await requestCode(shop, email), password: otherPassword };
    return { request: "POST /auth/password/reset/", body };
  },
  // Two-factor
  getTwoFactor: async ({ customer }) => ({ request: "GET /users/me/two-factor/", by: customer }),
  beginTwoFactor: byNewUser("POST /users/me/two-factor/", { password: goodPassword }),
  confirmTwoFactor: async ({ shop }) => {
    const by = await openAccount(shop);
    await by.begin();
    return { request: "POST /users/me/two-factor/confirm/", body: { otp: await by.code() }, by };
  },
  disableTwoFactor: withCode("POST /users/me/two-factor/disable/"),
  renewRecoveryCodes: withCode("POST /users/me/two-factor/recovery-codes/"),
};
