import type { Config } from "../../config/config.ts";
import type { Database } from "../../db/session.ts";
import { startPolling } from "../../delivery/poller.ts";
import type { Vault } from "../../security/vault.ts";
import { parseFromAddress } from "../../values/email.ts";
import { createProviders } from "./providers/providers.ts";
import { ensureVapidKeys } from "./providers/vapid.ts";
import { createPushEngine } from "./sending/delivery.ts";

interface StartDeps {
  db: Database;
  vault: Vault;
  /** Epoch milliseconds. */
  now: () => number;
  notice: (level: "info" | "warn", message: string) => void;
}

/** Sends push notifications for as long as a server runs. Any number of servers may do so beside one another. */
export function startPushDelivery(
  config: Pick<Config, "publicUrl" | "mailFrom" | "allowPrivatePush" | "pushProviders">,
  deps: StartDeps,
): { stop(): Promise<void> } {
  const { allowPrivatePush: allowPrivate, pushProviders: accounts } = config;
  const readKeys = () => ensureVapidKeys(deps);
  const providers = createProviders({ accounts, readKeys, now: deps.now, allowPrivate });
  const engine = createPushEngine({ ...deps, providers, contact: contactOf(config) });
  return startPolling(deps.db, engine, () =>
    deps.notice("warn", "the database does not answer; push notifications wait"),
  );
}

/** Whom push services may write to (RFC 8292): the server's own address, else that of its mail. */
function contactOf({ publicUrl, mailFrom }: Pick<Config, "publicUrl" | "mailFrom">): string | undefined {
  if (publicUrl?.startsWith("https://")) return publicUrl;
  const from = mailFrom === undefined ? null : parseFromAddress(mailFrom);
  return from === null ? undefined : `mailto:${from.address}`;
}
