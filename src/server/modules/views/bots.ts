import { list } from "isbot";

/** What comes later says nothing more. */
const maxRead = 512;
/** How many agents are remembered, twice. */
const maxKnown = 500;

/** What programs send that fetch pages for people: shops that render on servers, and apps, have such agents. */
const libraries = new RegExp(
  `^(?:${[
    "(?:mozilla/4\\.0 \\(compatible; )?apache-httpclient",
    "(?:node-)?superagent",
    "(?:python-)?(?:aiohttp|httpx|requests|urllib\\d?)",
    "axios",
    "bun",
    "cfnetwork",
    "curl",
    "dalvik",
    "dart",
    "deno",
    "faraday",
    "go-http-client",
    "got",
    "guzzlehttp",
    "java",
    "ky",
    "ktor-client",
    "lib(?:curl|www-perl)",
    "node(?:-fetch|\\.js)?",
    "okhttp",
    "php",
    "python",
    "reactornetty",
    "reqwest",
    "ruby",
    "symfony httpclient",
    "undici",
    "vercel edge functions",
    "wget",
    "wrk",
  ].join("|")})(?:$|[ /_])`,
  "i",
);

/**
 * Patterns of the list that take every agent for a bot that is not a browser's, such as `MyShop/2.1 (iPhone)`, and those
 * for libraries.
 */
export const notBots: ReadonlySet<string> = new Set([
  "(?<!lib)http",
  "\\b\\w+/1\\.0;",
  "\\bperl\\b",
  "^[\\w \\.\\-\\(?:\\):%]+(?:/v?\\d+(?:\\.\\d+)?(?:\\.\\d{1,10})*?)?(?:,|$)",
  "^[\\w\\-]+/[\\w]+$",
  "^[^ ]{50,}$",
  "^\\d+\\b",
  "^\\w+/[\\w\\(\\)]*$",
  "^\\w+/\\d\\.\\d\\s\\([\\w@]+\\)$",
  "^apache/",
  "^client/",
  "^custom",
  "^php",
  "^python",
  "^rest",
  "^wget",
  "java(?!;)",
  "library",
  "node\\b",
  "url",
]);

let bots: RegExp | undefined;
let recent = new Map<string, boolean>();
let before = new Map<string, boolean>();

/**
 * Whether a view is a machine's own: a crawler's, a link preview's, a headless browser's, a monitor's. Libraries and apps,
 * and who says nothing, are taken for people.
 * @param agent what the program says it is.
 */
export function isBot(agent: string): boolean {
  if (agent === "") return false;
  const text = agent.slice(0, maxRead);
  const known = recent.get(text) ?? before.get(text);
  if (known !== undefined) return known;
  const verdict = !libraries.test(text) && botPattern().test(text);
  if (recent.size >= maxKnown) {
    before = recent;
    recent = new Map();
  }
  recent.set(text, verdict);
  return verdict;
}

/** Made when it is first asked for: a server that counts no views has no use for it. */
function botPattern(): RegExp {
  // Crawlers name the page that tells of them.
  bots ??= new RegExp(["https?:", ...list.filter((pattern) => !notBots.has(pattern))].join("|"), "i");
  return bots;
}
