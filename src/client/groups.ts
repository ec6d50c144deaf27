import type { LooseOptions } from "./call.ts";
import type { Envelope } from "./exchange.ts";
import type { List, ListMethod, Method, Operation, SendOptions, StateMethod } from "./operations.ts";

/** The operations by resource and method name. `LIST` and `STATE` are kinds of `GET`. */
const operations = {
  products: {
    list: "LIST /products/",
    /** Reads a product by its id or slug. */
    get: "GET /products/{id}/",
    create: "POST /products/",
    /** Replaces all fields: omitted ones return to their defaults. */
    replace: "PUT /products/{id}/",
    /** Changes only the fields that are sent. */
    update: "PATCH /products/{id}/",
    remove: "DELETE /products/{id}/",
  },
  variants: {
    list: "GET /products/{id}/variants/",
    get: "GET /products/{id}/variants/{variant_id}/",
    add: "POST /products/{id}/variants/",
    update: "PATCH /products/{id}/variants/{variant_id}/",
    remove: "DELETE /products/{id}/variants/{variant_id}/",
  },
  categories: {
    list: "LIST /categories/",
    get: "GET /categories/{id}/",
    create: "POST /categories/",
    update: "PATCH /categories/{id}/",
    remove: "DELETE /categories/{id}/",
  },
  media: { upload: "POST /media/" },
  orders: {
    list: "LIST /orders/",
    get: "GET /orders/{id}/",
    /**
     * Places an order. A retry has the same `Idempotency-Key`, so it places no second order. A guest's reply has an
     * `access_token`: pass it as `orderToken` to `get`, `cancel`, `openCheckout`, `checkPayment` and `invoice`.
     */
    place: "POST /orders/",
    /** Changes contact, addresses and notes. */
    update: "PATCH /orders/{id}/",
    /** Mails a guest a new link to an order. The reply does not say whether the order exists. */
    mailLink: "POST /orders/access/",
    /** Records that a consumer withdraws from a contract. The reply does not say whether there is such an order. */
    withdraw: "POST /orders/withdrawals/",
    /** Lists the withdrawals of consumers, newest first. */
    withdrawals: "LIST /orders/withdrawals/",
    cancel: "POST /orders/{id}/cancel/",
    /** Opens a checkout page at the payment provider, or returns the open page. Send the buyer to the page's `url`. */
    openCheckout: "POST /orders/{id}/checkout/",
    /** Asks the payment provider whether an order is paid. */
    checkPayment: "POST /orders/{id}/checkout/check/",
    /** Records a payment that the store has received. */
    pay: "POST /orders/{id}/pay/",
    /** Marks all items that were not sent yet as sent. */
    fulfill: "POST /orders/{id}/fulfill/",
    /** Records a parcel. */
    addFulfillment: "POST /orders/{id}/fulfillments/",
    refund: "POST /orders/{id}/refund/",
    /** Returns the invoice and credit notes of a paid order, and issues those that are missing. */
    invoice: "POST /orders/{id}/invoice/",
    /** Requests a failed refund again. */
    retryRefund: "POST /orders/{id}/refund/{refund_id}/retry/",
  },
  shipping: {
    /** The rates that apply to an address and goods; without `country`, all rates of the store. */
    rates: "GET /shipping/rates/",
    replaceRates: "PUT /shipping/rates/",
  },
  mail: {
    /** The texts of mails, in the store's language or another one. */
    templates: "GET /mail/templates/",
    replaceTemplate: "PUT /mail/templates/",
  },
  wishlist: {
    list: "LIST /wishlist/",
    get: "GET /wishlist/{product_id}/",
    /** Adds a product by its id. Adding it twice changes nothing. */
    add: "POST /wishlist/",
    /** Sets variant and note. Adds the product if it is not on the list. */
    put: "PUT /wishlist/{product_id}/",
    /** Removes a product by its id or slug; error 5301 if it is not on the list. */
    remove: "DELETE /wishlist/{product_id}/",
  },
  rewards: {
    get: "GET /rewards/",
    history: "LIST /rewards/history/",
    redeem: "POST /rewards/redeem/",
    adjust: "POST /rewards/adjust/",
  },
  likes: {
    /** All likes of the user or visitor. */
    list: "LIST /likes/",
    /** Returns for each resource whether the user or visitor likes it, and its number of likes. */
    get: "STATE /likes/",
    add: "POST /likes/",
    remove: "DELETE /likes/",
  },
  bookmarks: {
    list: "LIST /bookmarks/",
    get: "STATE /bookmarks/",
    add: "POST /bookmarks/",
    remove: "DELETE /bookmarks/",
  },
  views: { get: "STATE /views/", add: "POST /views/" },
  users: {
    /** The signed-in user. */
    me: "GET /users/me/",
    updateMe: "PATCH /users/me/",
    list: "LIST /users/",
    get: "GET /users/{id}/",
    create: "POST /users/",
    /** Mails a person a code to set the first password. Creates the user if needed. */
    invite: "POST /users/invite/",
    update: "PATCH /users/{id}/",
    remove: "DELETE /users/{id}/",
    /** Everything that is stored about a user. */
    export: "GET /users/{id}/export/",
    erase: "POST /users/{id}/erase/",
  },
  account: {
    verifyEmail: "POST /users/me/email/verify/",
    resendEmailCode: "POST /users/me/email/resend/",
    devices: "LIST /users/me/devices/",
    removeDevice: "DELETE /users/me/devices/{id}/",
    export: "GET /users/me/export/",
    erase: "POST /users/me/erase/",
    twoFactor: "GET /users/me/two-factor/",
    beginTwoFactor: "POST /users/me/two-factor/",
    confirmTwoFactor: "POST /users/me/two-factor/confirm/",
    disableTwoFactor: "POST /users/me/two-factor/disable/",
    renewRecoveryCodes: "POST /users/me/two-factor/recovery-codes/",
  },
  notifications: {
    /** Returns the server's public key, with which browsers subscribe to notifications. */
    offer: "GET /notifications/register/",
    register: "POST /notifications/register/",
    change: "PATCH /notifications/register/{id}/",
    unregister: "DELETE /notifications/register/{id}/",
    send: "POST /notifications/send/",
    list: "LIST /notifications/messages/",
    get: "GET /notifications/messages/{id}/",
  },
  events: { list: "LIST /events/" },
  reports: {
    sales: "GET /reports/sales/",
    /** Lists the tasks of the store, such as orders to ship. */
    todo: "GET /todo/",
  },
} as const satisfies Record<string, Record<string, Operation | `${"LIST" | "STATE"} ${string}`>>;

type Operations = typeof operations;
type Get<P extends string> = Extract<Operation, `GET ${P}`>;
type MethodOf<O> = O extends Operation
  ? Method<O>
  : O extends `LIST ${infer P}`
    ? ListMethod<Get<P>>
    : O extends `STATE ${infer P}`
      ? StateMethod<Get<P>>
      : never;

/** The methods of the client by resource. Each calls one operation of the API. */
export type Groups = { [G in keyof Operations]: { [N in keyof Operations[G]]: MethodOf<Operations[G][N]> } };

type Send = (operation: Operation, options?: LooseOptions) => Promise<Envelope>;

/** Returns an object with the client's methods by resource. */
export function createGroups(send: Send): Groups {
  const groups = Object.entries(operations).map(([group, methods]) => {
    const made = Object.entries(methods).map(([name, operation]) => [name, createMethod(send, operation)]);
    return [group, Object.fromEntries(made)];
  });
  return Object.fromEntries(groups);
}

/** Creates the client's method for an operation. */
export function createMethod<O extends string>(send: Send, operation: O): MethodOf<O> {
  const sent = operation.replace(/^(LIST|STATE)/, "GET") as Operation;
  const method = (...args: unknown[]) => {
    const given = readArguments(sent, args);
    if (operation.startsWith("LIST")) return createList(send, sent, given);
    return send(sent, given).then(({ data }) => data);
  };
  return method as unknown as MethodOf<O>;
}

/** Arguments are the ids in the path, then the query or the body, then options. */
function readArguments(operation: Operation, args: unknown[]): LooseOptions {
  const names = [...operation.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const path = Object.fromEntries(names.map((name, index) => [name, args[index]])) as Record<string, string>;
  const [input, options = {}] = args.slice(names.length) as [object?, (SendOptions & { query?: object })?];
  const isQuery = /^(GET|DELETE) /.test(operation);
  return isQuery ? { ...options, path, query: { ...input, ...options.query } } : { ...options, path, body: input };
}

function createList(send: Send, operation: Operation, given: LooseOptions): List<unknown> {
  // The feed of events has no `cursor`. Its parameter `after`, the id of an event, selects the next page.
  const name = operation === "GET /events/" ? "after" : "cursor";
  const page = (cursor?: string | null) =>
    send(operation, cursor ? { ...given, query: { ...given.query, [name]: cursor } } : given);
  return {
    page: page as unknown as List<unknown>["page"],
    async *[Symbol.asyncIterator]() {
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const { data, page: at } = await page(cursor);
        yield* data as unknown[];
        cursor = at?.has_more ? at.next_cursor : null;
      }
    },
  };
}
