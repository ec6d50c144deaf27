import { type ClientOptions, createSender } from "./call.ts";
import { BodegaError } from "./error.ts";
import { createFollower, type FollowEvents } from "./event-stream.ts";
import { createGroups, createMethod, type Groups } from "./groups.ts";
import type { Call, Method, SendOptions } from "./operations.ts";
import { hasEnded, type Session } from "./session.ts";
import { verifyWebhook } from "./webhook.ts";

export type { ClientOptions } from "./call.ts";
export type { FieldError } from "./error.ts";
export type { Body, Data, Item, List, Operation, Page, Query, SendOptions } from "./operations.ts";
export type { Session, TokenStorage } from "./session.ts";
export type { components, paths } from "./types.generated.ts";
export type { WebhookEvent, WebhookMessage } from "./webhook.ts";
export { BodegaError, verifyWebhook };

/** Signs users up, in and out. The client stores the token, sends it, and refreshes it before it expires. */
export interface Auth {
  /**
   * Signs a user in with `password`, or with the `code` that `mailCode` sent. Error 5211 asks for a two-factor code:
   * repeat the call with `otp`. The visitor's likes and bookmarks become the user's.
   */
  login: Method<"POST /auth/login/">;
  /** Mails a customer a code to sign in with. The reply does not say whether the address has an account. */
  mailCode: Method<"POST /auth/code/">;
  /** Signs the user out: always in this client, and also at the server if the server can be reached. */
  logout(options?: SendOptions): Promise<void>;
  /** Refreshes the token now. Other calls refresh it when needed. Returns null if nobody is signed in. */
  refresh(): Promise<Session | null>;
  /** The signed-in user's id and token; null if nobody is signed in. */
  session(): Promise<Session | null>;
  /** Changes the password of the signed-in user. The session then has a new token. */
  changePassword: Method<"POST /users/me/password/">;
  /** Starts a sign-up by mailing a code. The reply does not say whether the address has an account. */
  signUp: Method<"POST /users/sign-up/">;
  /** Creates the account with the mailed code and the password of the sign-up. */
  verify: Method<"POST /users/verify/">;
  resendCode: Method<"POST /users/verify/resend/">;
  forgotPassword: Method<"POST /auth/password/forgot/">;
  resetPassword: Method<"POST /auth/password/reset/">;
}

/** A client of one store. */
export interface Client extends Groups {
  /** Sends an operation by its name, and returns the whole reply: `data`, and `page` of lists. */
  call: Call;
  auth: Auth;
  /** Follows the events of the store. `list` reads past events. */
  events: Groups["events"] & FollowEvents;
  /** Reads the store's title, currency, logo and languages. */
  store: Method<"GET /store/">;
  /** Returns the URL of a picture, in `width` if given. Pictures on other servers have only their original size. */
  imageUrl(image: string | { url: string }, width?: 320 | 640 | 1280 | 2560): string;
}

/** Creates a client of one store. Its calls throw {@link BodegaError}. */
export function createClient(options: ClientOptions): Client {
  const { send, sessions, base } = createSender(options);
  const groups = createGroups(send);
  const keepSession = (operation: "POST /auth/login/" | "POST /users/me/password/") => {
    const method = createMethod(send, operation) as (...input: unknown[]) => Promise<Session>;
    return async (...input: unknown[]) => {
      const data = await method(...input);
      await sessions.save(data);
      return data as never;
    };
  };
  return {
    call: send as unknown as Call,
    ...groups,
    events: Object.assign(createFollower(send), groups.events),
    store: createMethod(send, "GET /store/"),
    auth: {
      login: keepSession("POST /auth/login/"),
      mailCode: createMethod(send, "POST /auth/code/"),
      changePassword: keepSession("POST /users/me/password/"),
      async logout(options) {
        try {
          if (await sessions.read()) await send("POST /auth/logout/", options);
        } catch (error) {
          if (!hasEnded(error)) throw error;
        } finally {
          const kept = await sessions.read();
          if (kept) await sessions.end(kept);
        }
      },
      async refresh() {
        const session = await sessions.read();
        return session && sessions.renewOnce(session);
      },
      session: sessions.read,
      signUp: createMethod(send, "POST /users/sign-up/"),
      verify: createMethod(send, "POST /users/verify/"),
      resendCode: createMethod(send, "POST /users/verify/resend/"),
      forgotPassword: createMethod(send, "POST /auth/password/forgot/"),
      resetPassword: createMethod(send, "POST /auth/password/reset/"),
    },
    imageUrl(image, width) {
      const url = typeof image === "string" ? image : image.url;
      const sized = width ? url.replace(/(\/media\/med_\w+)\/original(?=\.webp)/, `$1/${width}`) : url;
      return sized.startsWith("/") ? base + sized : sized;
    },
  };
}
