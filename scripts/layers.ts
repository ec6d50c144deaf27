import { join } from "node:path";

/** The layers of the server, the lowest first. A layer may import only layers before it. */
const server = [
  ...["errors.ts", "values", "concurrency", "config", "logging", "pagination", "db", "security", "object-store"],
  ...["context.ts", "http", "delivery", "modules", "admin", "backup", "replication", "tls", "monitoring", "health"],
  ...["api", "runtime"],
];
/** The layers of the terminal, the lowest first. All of them are above the layers of the server. */
const terminal = ["terminal", "framework", "context", "secrets", "completion", "commands"];

interface Ban {
  message: string;
  group: string[];
}

const otherSqlite: Ban = { message: "bun:sqlite and libSQL ignore each other's locks.", group: ["bun:sqlite"] };
const elysia: Ban = { message: "Only api/ may import Elysia.", group: ["elysia", "elysia/**"] };
const serviceOnly: Ban = {
  message: "A route calls one service, and contains no SQL.",
  group: ["**/*table.ts", "**/db/**", "drizzle-orm", "drizzle-orm/**"],
};
const noHttp: Ban = {
  message: "Services, models and tables may not import HTTP.",
  group: ["**/http/**", "**/*routes.ts"],
};
const commandsOnly: Ban = {
  message: "Commands call services: no HTTP, no tables, no SQL.",
  group: [
    ...["elysia", "elysia/**", "drizzle-orm", "drizzle-orm/**", "**/server/api/**", "**/server/http/**"],
    ...["**/server/modules/**/table.ts", "**/server/modules/**/*routes.ts"],
  ],
};
const browser: Ban = {
  message: "The client runs in browsers, and has no dependencies.",
  group: ["../**", "node:*", "bun", "bun:*", "@*/**", "elysia"],
};

const isFile = (room: string) => room.endsWith(".ts");
const rule = (includes: string[], patterns: Ban[]) => ({
  includes,
  linter: { rules: { style: { noRestrictedImports: { level: "error", options: { patterns } } } } },
});

const orderOf = (room: string, group: string[]): Ban => ({
  message: `${room} may import only layers that scripts/layers.ts lists before it.`,
  group,
});

function serverRules(room: string, index: number) {
  const above = server.slice(index + 1).map((one) => (isFile(one) ? `**/${one}` : `**/${one}/**`));
  const order = orderOf(room, [...above, "**/cli/**"]);
  const bans = [order, ...(index < server.indexOf("api") ? [elysia] : []), otherSqlite];
  const path = `src/server/${isFile(room) ? room : `${room}/**`}`;
  if (room !== "modules") return [rule([path], bans)];
  const routes = "src/server/modules/**/*routes.ts";
  return [rule([routes], [...bans, serviceOnly]), rule([path, `!${routes}`], [...bans, noHttp])];
}

function terminalRules(room: string, index: number) {
  const above = terminal.slice(index + 1).flatMap((one) => [`**/cli/${one}/**`, `../${one}/**`]);
  return rule([`src/cli/${room}/**`], [...(above.length > 0 ? [orderOf(room, above)] : []), commandsOnly, otherSqlite]);
}

/** Returns `biome.layers.json`, which `biome.json` extends. */
export function renderLayerRules(): string {
  const overrides = [
    ...server.flatMap(serverRules),
    ...terminal.map(terminalRules),
    rule(["src/client/**"], [browser]),
  ];
  return `{"overrides": [\n${overrides.map((one) => JSON.stringify(one)).join(",\n")}\n]}\n`;
}

if (import.meta.main) await Bun.write(join(import.meta.dir, "..", "biome.layers.json"), renderLayerRules());
