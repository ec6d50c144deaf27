import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { commandTree } from "../../src/cli/commands/command-tree.ts";
import { findCommand } from "../../src/cli/framework/find-command.ts";
import { readArgs } from "../../src/cli/framework/read-args.ts";
import { defaultBodyLimits } from "../../src/server/api/app.ts";
import { readConfig } from "../../src/server/config/config.ts";
import { idleSeconds } from "../../src/server/runtime/port.ts";
import { expiryWarningDays } from "../../src/server/tls/certificate.ts";
import { statusOfCode } from "../support/error-status.ts";

const page = readFileSync(join(import.meta.dir, "../../docs/PROXIES.md"), "utf8");
const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(([, language, text]) => ({
  language,
  text: text ?? "",
}));
const block = (language: string) => blocks.find((one) => one.language === language)?.text ?? "";
const [caddy, nginx] = [block("caddyfile"), block("nginx")];

test("the settings in docs/PROXIES.md are accepted", () => {
  const env = Object.fromEntries(
    block("ini")
      .split("\n")
      .filter((line) => line.startsWith("BODEGA_"))
      .map((line) => line.split(/=(.*)/).slice(0, 2)),
  );
  const { publicUrl, trustedProxies } = readConfig({}, env);
  expect({ publicUrl, trustedProxies }).toEqual({
    publicUrl: "https://shop.example.com",
    trustedProxies: ["127.0.0.1/32", "::1/128"],
  });
});

test("the commands in docs/PROXIES.md are accepted", async () => {
  const shell = blocks.filter(({ language }) => language === "sh").map(({ text }) => text.replaceAll("\\\n", ""));
  const lines = shell.flatMap((text) => text.split("\n")).filter((line) => line.startsWith("bodega "));
  expect(lines.length).toBe(3);
  for (const line of lines) {
    const { target, rest } = findCommand(commandTree, line.replace(/#.*/, "").trim().split(/\s+/).slice(1));
    if (typeof target !== "function") throw new Error(`no command: ${line}`);
    const { args } = await target();
    // Throws if the command does not have these arguments.
    expect(() => readArgs(rest, args)).not.toThrow();
  }
});

describe.each([
  ["caddy", caddy],
  ["nginx", nginx],
])("the recipe for %s", (_name, recipe) => {
  test("a recipe for a proxy is complete", () => {
    expect(recipe).toContain("shop.example.com");
    expect(recipe.split("{").length).toBe(recipe.split("}").length);
    expect(recipe).toContain("/metrics");
    expect(recipe).toContain("127.0.0.1:8080");
  });

  test("a recipe for a proxy keeps connections open for less time than the server", () => {
    const seconds = [...recipe.matchAll(/keepalive(?:_timeout)? (\d+)s/g)].map(([, text]) => Number(text));
    expect(seconds.length).toBe(1);
    expect(Math.max(...seconds)).toBeLessThan(idleSeconds);
  });

  test("a recipe for a proxy compresses JSON, and lets pages read the proxy's own replies", () => {
    expect(recipe).toMatch(/^\s*(?:encode zstd gzip|gzip on;)$/m);
    const own = recipe.split(/(?=location @|handle_errors)/).slice(1);
    expect(own.length).toBe(recipe === nginx ? 2 : 1);
    for (const block of own) expect(block).toMatch(/header Access-Control-Allow-Origin \*(?: always;)?$/m);
    expect(own.at(-1)).toMatch(/OPTIONS/);
  });

  test("a recipe for a proxy sends errors in the envelope, with the status of the code", () => {
    const answers = [...recipe.matchAll(/(?:return (\d+) '(.*)';|respond `(.*)` (\d+))/g)];
    expect(answers.length).toBeGreaterThan(0);
    for (const [, before, first, second, after] of answers) {
      const { request_id, error } = JSON.parse(first ?? second ?? "");
      expect(request_id).toBeString();
      expect(error).toEqual({ code: expect.any(Number), type: expect.any(String), message: expect.any(String) });
      expect(Number(before ?? after)).toBe(statusOfCode(error.code));
    }
  });
});

test("the recipes for proxies pass on bodies that are too large for the server", () => {
  const [, mebibytes] = /client_max_body_size (\d+)m;/.exec(nginx) ?? [];
  expect(Number(mebibytes) * 1_048_576).toBeGreaterThan(defaultBodyLimits.bytes);
  // Caddy must not limit bodies, because it would reply 502.
  expect(caddy).not.toContain("request_body");
});

test("the durations in docs/PROXIES.md are those of the server", () => {
  expect(page).toContain(`In the last ${expiryWarningDays} days of a certificate`);
  expect(page).toContain(`connections to Bodega for less than ${idleSeconds} seconds`);
});
