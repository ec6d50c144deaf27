import { keyState } from "../../../server/modules/app-keys/model.ts";
import { listVisitorActs } from "../../../server/security/scopes.ts";
import type { Console } from "../../terminal/console.ts";
import { warn } from "../../terminal/output.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { formatRelativeTime } from "../../terminal/relative-time.ts";
import type { AppKeyDetails } from "./print.ts";

interface PageKey {
  name: string;
  scopes: readonly string[];
}

/**
 * At a terminal, asks before a change stops or opens a key that has been used; `question` says what the change does.
 * A script is not asked, so that it can stop a leaked key at once.
 */
export async function confirmInUse(console: Console, key: AppKeyDetails, question: string): Promise<void> {
  const state = keyState(key, Date.now());
  if (key.last_used_at === null || state !== "published" || !console.canAsk) return;
  await confirmAction(console, `${question} Last used: ${formatRelativeTime(key.last_used_at, Date.now())}.`);
}

/**
 * Says what visitors of a page could do with its key, where that is more than a storefront key allows, and asks before the
 * page gets it. Without a terminal it only warns.
 */
export async function confirmPages(console: Console, { name, scopes }: PageKey, origins: readonly string[]) {
  const acts = listVisitorActs(scopes);
  if (acts.length === 0 || origins.length === 0 || console.assumeYes) return;
  const risk = `Every visitor of ${origins.join(", ")} can read key ${JSON.stringify(name)} and then ${acts.join(", ")}.`;
  if (console.canAsk || !(console.quiet || console.json)) await warn(console, `${risk} Give pages a storefront key.`);
  if (console.canAsk) await confirmAction(console, "Let these sites use the key?");
}
