import { list } from "isbot";
import { LruCache } from "../../values/lru-cache.ts";
import patterns from "./bots.json" with { type: "json" };

const maxRead = 512;
const minCached = 500;

/** User agents of programs that fetch pages for people, such as apps and shops that render on a server. */
const libraries = new RegExp(`^(?:${patterns.libraries.join("|")})(?:$|[ /_])`, "i");

/** Patterns of the list that are not used, because they match libraries, or every agent that is not a browser. */
export const notBots: ReadonlySet<string> = new Set(patterns.notBots);

let bots: RegExp | undefined;
const verdicts = new LruCache<boolean>(minCached);

/** Whether an agent is a crawler, link preview, headless browser or monitor. Libraries and apps count as people. */
export function isBot(agent: string): boolean {
  if (agent === "") return false;
  // Crawlers link to a page that describes them, so a URL matches too.
  bots ??= new RegExp(["https?:", ...list.filter((pattern) => !notBots.has(pattern))].join("|"), "i");
  const pattern = bots;
  return verdicts.getOrMake(agent.slice(0, maxRead), (text) => !libraries.test(text) && pattern.test(text));
}
