import type { Access, Route } from "../src/server/http/route.ts";

/** An endpoint with an example of a request and its reply. */
export interface Endpoint {
  route: Route;
  target: string;
  query: string[];
  body?: unknown;
  status: number;
  data?: unknown;
  isList: boolean;
}

type Json = Record<string, unknown>;
/** Records that were shown in full, with the titles of their endpoints. The keys are the prefixes of ids. */
type Records = Map<string, { title: string; record: Json }>;

const lineWidth = 100;
const rest = "…";
/** A record is shown in full again if it lacks more than this many fields. */
const maxMissing = 4;
/** Fields that differ only because the examples were created one after another. */
const incidental = ["created_at", "number", "position", "updated_at", "version"];

const titleOf = ({ method, path }: Route) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`;
const groupOf = ({ path }: Route) => path.split("/")[1] as string;

/** Returns a section for each endpoint, by path. A record is shown in full once; later replies show only differences. */
export function renderEndpoints(endpoints: readonly Endpoint[]): string {
  const sorted = endpoints.toSorted((a, b) => (a.route.path < b.route.path ? -1 : Number(a.route.path > b.route.path)));
  const groups = [...new Set(sorted.map(({ route }) => groupOf(route)))];
  const records: Records = new Map();
  return [
    `${groups.map((group) => `[${group}](#${group})`).join(" · ")}\n`,
    ...sorted.flatMap((endpoint, index) => {
      const group = groupOf(endpoint.route);
      const previous = sorted[index - 1];
      const heading = previous && groupOf(previous.route) === group ? [] : [`### ${group}\n`];
      return [...heading, renderEndpoint(endpoint, records)];
    }),
  ].join("\n");
}

function renderEndpoint(endpoint: Endpoint, records: Records): string {
  const { route } = endpoint;
  const lines = renderExample(endpoint, records);
  const text = lines.join("\n").replace(/(_[0-9a-z]{4})[0-9a-z]{22}\b/g, `$1${rest}`);
  const example = text && [`\`\`\`json\n${text}\n\`\`\`\n`];
  return [`#### \`${titleOf(route)}\`\n`, `${route.summary}. For: ${describeAccess(route.access)}.\n`, ...example].join(
    "\n",
  );
}

function renderExample({ route, target, query, body, status, data, isList }: Endpoint, records: Records): string[] {
  const shortening: Shortening = { title: titleOf(route), records, shownBefore: new Set(), missing: new Set() };
  const lines: string[] = [];
  if (query.length > 0) lines.push(`// ${route.method} ${target}?${query.join("&")}`);
  if (body && Object.keys(body).length > 0) lines.push("// Body", print(body));
  if (data === undefined) return lines;
  const reply = print(shorten(data, shortening)).replaceAll(`"${rest}": "${rest}"`, rest);
  const isWhole = /^[[{ …}\]]+$/.test(reply);
  const before = [...shortening.shownBefore].join(", ");
  const without = shortening.missing.size > 0 ? `, without ${[...shortening.missing].join(", ")}` : "";
  const as = before && `${isWhole ? ", as in" : `; ${rest} as in`} ${before}${without}`;
  lines.push(`// Reply ${status}${isList ? ", a page" : ""}${as}`);
  return isWhole ? lines : [...lines, reply];
}

function describeAccess(access: readonly Access[]): string {
  const scopes = access.flatMap((way) => (way.kind === "app" && way.scope ? [`\`${way.scope}\``] : []));
  const others = access.flatMap((way) => {
    if (way.kind === "app") return way.scope ? [] : ["any app key"];
    if (way.kind === "public") return ["anyone"];
    if (way.own) return ["the user whose token it is"];
    return [way.role === "staff" ? "staff and owners" : "signed-in users"];
  });
  return [...(scopes.length > 0 ? [`app keys with ${scopes.join(" or ")}`] : []), ...others].join(", ");
}

interface Shortening {
  title: string;
  records: Records;
  /** Collects the titles of the endpoints that show the omitted fields. */
  shownBefore: Set<string>;
  /** Collects the names of fields that the earlier record has, but this record lacks. */
  missing: Set<string>;
}

function shorten(value: unknown, shortening: Shortening): unknown {
  if (Array.isArray(value)) return value.map((item) => shorten(item, shortening));
  if (typeof value !== "object" || value === null) return value;
  const [, prefix] = /^([a-z]+)_/.exec(String((value as Json).id)) ?? [];
  const known = prefix === undefined ? undefined : shortening.records.get(prefix);
  const entries = Object.entries(value);
  const missing = Object.keys(known?.record ?? {}).filter((name) => !(name in value));
  if (known !== undefined && missing.length <= maxMissing) {
    const isSame = ([name, inner]: [string, unknown]) =>
      incidental.includes(name) || Bun.deepEquals(inner, known.record[name]);
    const differing = entries.filter((entry) => !isSame(entry));
    for (const name of missing) shortening.missing.add(name);
    if (known.title !== shortening.title) shortening.shownBefore.add(known.title);
    return { ...shortenEntries(differing, shortening), [rest]: rest };
  }
  if (prefix !== undefined && known === undefined)
    shortening.records.set(prefix, { title: shortening.title, record: value as Json });
  return shortenEntries(entries, shortening);
}

function shortenEntries(entries: [string, unknown][], shortening: Shortening): Json {
  return Object.fromEntries(entries.map(([name, inner]) => [name, shorten(inner, shortening)]));
}

/** Formats JSON. A value that fits on one line is printed on one line. */
function print(value: unknown, indent = ""): string {
  const flat = JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");
  if (flat.length + indent.length <= lineWidth || typeof value !== "object" || value === null) return flat;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const parts = Object.entries(value).map(([name, item]) => {
    const label = Array.isArray(value) ? "" : `${JSON.stringify(name)}: `;
    return `${inner}${label}${print(item, inner)}`;
  });
  return `${open}\n${parts.join(",\n")}\n${indent}${close}`;
}
