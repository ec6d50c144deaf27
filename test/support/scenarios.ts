import { expect } from "bun:test";
import type { ApiReply, CallOptions } from "./client.ts";
import { statusOfCode } from "./error-status.ts";
import type { Shop } from "./factories.ts";
import type { Suite } from "./suite.ts";

/** A call and its expected result, as a row of a table. */
export interface ApiScenario {
  name: string;
  /** Such as `"GET /products/"`. */
  request: string;
  send?: undefined | CallOptions | ((shop: Shop) => CallOptions | Promise<CallOptions>);
  /** The status of a success, or the code of an error. The code determines the error's status. */
  expect: 200 | 201 | number;
  /** All names in `details`. */
  fields?: string[];
  /** Texts that the reply must contain, and texts that it must not contain. */
  has?: string[];
  lacks?: string[];
  check?: (reply: ApiReply<never>, shop: Shop) => void | Promise<void>;
}

/** A row: name, call options and expected code. Optionally, fields that the error names, or further expectations. */
export type ScenarioRow = [
  name: string,
  send: ApiScenario["send"],
  expect: number,
  ...more: (string | string[] | Pick<ApiScenario, "has" | "lacks" | "check">)[],
];

/** Returns the scenarios of one request. */
export function scenariosOf(request: string, rows: readonly ScenarioRow[]): ApiScenario[] {
  const read = (more: ScenarioRow[3]) =>
    typeof more === "string" || Array.isArray(more) ? { fields: [more].flat() } : more;
  return rows.map(([name, send, expect, ...more]) => ({
    name,
    request,
    send,
    expect,
    ...Object.assign({}, ...more.map(read)),
  }));
}

/**
 * Runs each row as a test on a file, because both kinds of database accept the same input. Each row has a new store, or
 * a shared store if an error is expected.
 */
export function runScenarios(suite: Suite, scenarios: readonly ApiScenario[]): void {
  let shared: Promise<Shop> | undefined;
  for (const scenario of scenarios) {
    suite.onFile(scenario.name, async () => {
      if (scenario.expect > 1000) shared ??= suite.shop();
      const shop = await (scenario.expect > 1000 ? (shared as Promise<Shop>) : suite.shop());
      const send = typeof scenario.send === "function" ? await scenario.send(shop) : scenario.send;
      const reply = await shop.call(scenario.request, send);
      checkOutcome(reply, scenario);
      await scenario.check?.(reply as ApiReply<never>, shop);
    });
  }
}

function checkOutcome(reply: ApiReply, scenario: ApiScenario): void {
  const { expect: outcome, fields, has = [], lacks = [] } = scenario;
  const code = outcome > 1000 ? outcome : undefined;
  expect({ code: reply.code, status: reply.status }).toEqual({ code, status: code ? statusOfCode(code) : outcome });
  if (fields) expect(reply.fields.toSorted()).toEqual(fields.toSorted());
  for (const text of has) expect(reply.text).toContain(text);
  for (const text of lacks) expect(reply.text).not.toContain(text);
}
