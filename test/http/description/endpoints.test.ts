import { expect, test } from "bun:test";
import { join } from "node:path";
import { type Endpoint, renderEndpoints } from "../../../scripts/api-reference.ts";
import { generateClientTypes } from "../../../scripts/client-types.ts";
import { routes } from "../../../src/server/api/routes.ts";
import type { Route } from "../../../src/server/http/route.ts";
import { makeCall, openWorld, type RouteCall, routeCalls, type World } from "../../support/route-calls.ts";
import { onDatabase } from "../../support/suite.ts";

const path = join(import.meta.dir, "../../../docs/API.md");
const examplesPath = join(import.meta.dir, "../../../src/server/api/description/examples.json");
const heading = "\n## Every endpoint\n";
const introduction = `Sorted by path. Each endpoint has an example from a real server: the body of a request, and the \`data\` of the reply.
Every request also has \`namespace\`, and every reply \`request_id\`. A list also has \`page\`; the example shows one item. Long values
are shortened. A record is shown in full once; in other replies, \`…\` stands for the fields that are the same there.
`;

/** Replacements for fields whose values differ in each run, or are too long to read. */
const placeholders: Record<string, unknown> = {
  access_token: "…",
  app_secret: "…",
  auth: "…",
  code: "492039",
  endpoint: "https://push.example.com/send/…",
  html: "<!doctype html>…",
  management_secret: "…",
  namespace: "demo",
  next_cursor: "…",
  otp: "492039",
  otpauth_uri: "otpauth://totp/…",
  p256dh: "…",
  qr_svg: "<svg …>",
  recovery_codes: ["4k9tz-m2x7c"],
  secret: "…",
  token: "v2.…",
  vapid_public_key: "…",
  visitor: "…",
};
/** Returns a value as the documentation shows it: the same in each run, with one item of each list. */
function display(value: unknown, key = ""): unknown {
  if (value !== null && value !== undefined && key in placeholders) return placeholders[key];
  if (Array.isArray(value)) return value.slice(0, 1).map((item) => display(item));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, display(inner, name)]));
  }
  if (typeof value !== "string") return value;
  return (
    value
      .replace(/\b([a-z]{3,4})_[0-9a-hjkmnp-tv-z]{26}\b/g, "$1_01k8z3v5x2f1rt9m6q7wbn4hcd")
      .replace(/\b(?:Contraband in red|Lamp \d+|Contraband(?: \d+)?)/g, "Enamel mug")
      .replace(/\b(?:contraband|lamp)[a-z0-9-]*/g, "enamel-mug")
      .replace(/[\w.+-]+@[\w.-]+/g, "ada@example.com")
      .replace(/\bt-[0-9a-f-]{36}\b/g, "demo")
      .replace(/^http:\/\/127\.0\.0\.1:\d+\/c\/pay\/cs_\w+$/, "https://checkout.stripe.com/c/pay/cs_test_a1")
      .replace(/\b(pi|re|du)_[0-9a-f]{24}\b/g, "$1_3LtqX2eZvKYlo2C1a2b3c4d5")
      // This number increases through all test files of a process.
      .replace(/\b10\.\d+\.\d+\.\d+\b/g, "203.0.113.7")
      .replace(/\bM\d+\b/g, "M")
      .replace(/\b(brochures|By post)[ -]\d+/gi, "$1")
      .replace(/\b(?:SUMMER|CONTRABAND)-\d+/g, "SUMMER10")
  );
}

interface Example {
  params: Record<string, unknown>;
  body?: unknown;
  reply: unknown;
}

async function describeRoute(world: World, route: Route, examples: Record<string, Example>): Promise<Endpoint> {
  const call = await (routeCalls[route.id] as (world: World) => Promise<RouteCall>)(world);
  const answer = await makeCall(world, call);
  expect([route.id, answer.error]).toEqual([route.id, undefined]);
  const target = String(display(call.request.split(" ")[1]));
  const reply = { data: answer.data, ...(answer.page && { page: answer.page }) };
  examples[route.id] = {
    params: paramsOf(route.path, target),
    ...(call.body && { body: display(call.body) }),
    reply: display({ request_id: "req_01k8z3v5x2f1rt9m6q7wbn4hcd", ...reply }),
  };
  return {
    route,
    target,
    query: Object.entries(call.query ?? {}).map(([name, value]) => `${name}=${display(value, name)}`),
    body: call.body && display(call.body),
    status: answer.status,
    data: display(answer.data),
    isList: answer.page !== undefined,
  };
}

/** Returns the values of the parameters in a path. */
function paramsOf(path: string, target: string): Record<string, unknown> {
  const parts = target.split("/");
  const names = path.split("/").map((part, index) => [part, parts[index]] as const);
  return Object.fromEntries(
    names.filter(([part]) => part.startsWith(":")).map(([part, value]) => [part.slice(1), value]),
  );
}

/** Returns the link to a section, as GitHub builds it. */
function linkTo(title: string): string {
  const anchor = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
  return `- [${title}](#${anchor})`;
}

/** Replaces the table of contents, which ends at the first section. */
function withContents(text: string): string {
  const [, introduction = "", rest = ""] = /^([\s\S]*?\n)(?:- \[[\s\S]*?\n)?(\n## [\s\S]*)$/.exec(text) ?? [];
  const titles = [...rest.matchAll(/^#{1,2} (?<title>.*)$/gm)].map(({ groups }) => groups?.title as string);
  const links = [...titles, "Every endpoint"].map((title) =>
    title === "Reference" ? linkTo(title) : `  ${linkTo(title)}`,
  );
  const tasks = links.slice(0, links.indexOf(linkTo("Reference"))).map((link) => link.trim());
  return `${introduction.trimEnd()}\n\n${[...tasks, ...links.slice(tasks.length)].join("\n")}\n${rest}`;
}

onDatabase("file", (suite) => {
  test("docs/API.md and the API description show a real request and its reply for every endpoint", async () => {
    const world = await openWorld(await suite.shop());
    const endpoints: Endpoint[] = [];
    const examples: Record<string, Example> = {};
    for (const route of routes) endpoints.push(await describeRoute(world, route, examples));
    const text = await Bun.file(path).text();
    const before = withContents(text.split(heading, 1)[0] ?? "");
    const wanted = `${before}${heading}\n${introduction}\n${renderEndpoints(endpoints)}`;
    const isUpdate = process.env.UPDATE_DOCS !== undefined;
    if (isUpdate) await Bun.write(path, wanted);
    if (isUpdate) await Bun.write(examplesPath, `${JSON.stringify(examples, null, 2)}\n`);
    expect(await Bun.file(path).text()).toBe(wanted);
    expect(await Bun.file(examplesPath).json()).toEqual(examples);
  });
});

test("the client's types are generated from the present API description", async () => {
  const file = join(import.meta.dir, "../../../src/client/types.generated.ts");
  const types = await generateClientTypes();
  if (process.env.UPDATE_DOCS !== undefined) await Bun.write(file, types);
  expect(await Bun.file(file).text()).toBe(types);
});
