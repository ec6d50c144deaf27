import type { SystemCtx } from "../../context.ts";
import { quoteWord } from "../../values/shell-quote.ts";
import { parseOrigin, parseOriginPattern } from "./origin-pattern.ts";
import { verifyOrigin } from "./origins.ts";
import { listRejections } from "./rejections.ts";
import { getKey } from "./service.ts";

export type OriginExplanation = Awaited<ReturnType<typeof explainOrigin>>;

/** Explains how the server would answer this `Origin` (null: none sent). Errors: notFound. */
export async function explainOrigin(ctx: SystemCtx, { appId, origin }: { appId: string; origin: string | null }) {
  const key = await getKey(ctx, appId);
  const patterns = key.origins.map(parseOriginPattern);
  const rule = { enforceOrigins: key.enforce_origins, allowNoOrigin: key.allow_no_origin, patterns };
  const verdict = verifyOrigin(rule, origin);
  return {
    ...verdict,
    advice: verdict.allowed ? null : advise(appId, key.origins, origin),
    rejected: await listRejections(ctx, appId),
  };
}

function advise(appId: string, entries: readonly string[], origin: string | null): string {
  if (origin === null) {
    const list = entries.map((entry) => ` ${quoteWord(entry)}`).join("");
    return `Servers and apps send no Origin header. Allow such requests too: bodega origin set ${appId}${list} --allow-no-origin`;
  }
  if (parseOrigin(origin) !== null) return `To allow it: bodega origin add ${appId} ${quoteWord(origin)}`;
  return "No entry can match it. A browser sends scheme, host and port, such as https://shop.example.com, or null from a file or a sandboxed frame.";
}
