import { listVisitorActs } from "../../../server/security/scopes.ts";
import type { Console } from "../../terminal/console.ts";
import { warn } from "../../terminal/output.ts";
import { confirmAction } from "../../terminal/prompt.ts";

/** A key that pages are to use, as `key` in texts. */
interface PageKey {
  name: string;
  scopes: readonly string[];
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
