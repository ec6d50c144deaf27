import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openShop, useBinaries } from "../support/binary.ts";
import { makeCertificate } from "../support/make-certificate.ts";
import { parseMetrics } from "../support/prometheus.ts";
import { until } from "../support/until.ts";

const { installBinary, makeDir } = useBinaries();
const examples = join(import.meta.dir, "../../examples/monitoring");
const alerts = join(examples, "alerts.yml");
const promtool = Bun.which("promtool");

interface Dashboard {
  panels: { id: number; title: string; targets: { expr: string }[] }[];
}

const dashboard: Dashboard = JSON.parse(readFileSync(join(examples, "dashboard.json"), "utf8"));
const queries = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
const rules = Bun.YAML.parse(readFileSync(alerts, "utf8")) as {
  groups: { rules: { alert: string; expr: string; labels: { severity: string }; annotations: object }[] }[];
};

test("alerts and dashboard use only metrics and labels of a server", async () => {
  const [binary, dir, pair] = [installBinary(), makeDir(), makeCertificate()];
  const { auth } = await openShop(binary);
  const replica = join(dir, "replica");
  for (const name of ["cert", "key"] as const) writeFileSync(join(dir, name), pair[name], { mode: 0o600 });
  binary.env.BODEGA_METRICS_TOKEN = "a-token-for-the-tests";
  const tls = ["--tls-cert", join(dir, "cert"), "--tls-key", join(dir, "key")];
  binary.env.BODEGA_REPLICATE_TO = replica;
  const server = await binary.serve(...tls);
  const ask = (path: string, authorization: string) =>
    fetch(server.url + path, { headers: { authorization }, tls: { ca: pair.cert } });
  expect((await ask("/products/?namespace=demo", auth)).status).toBe(200);
  expect((await ask("/products/none/?namespace=demo", auth)).status).toBe(404);
  expect(await binary.run("db", "backup", "--to", join(dir, "shop.tar.gz"))).toMatchObject({ code: 0 });
  await until("the replica", async () => (await binary.run("db", "test-restore", replica)).code === 0);
  const { samples } = parseMetrics(await (await ask("/metrics", "Bearer a-token-for-the-tests")).text());
  expect(await server.end()).toBe(0);
  const labels = Map.groupBy(samples, ({ name }) => name);
  const missing = [...queries, ...rules.groups.flatMap((group) => group.rules.map(({ expr }) => expr))].flatMap(
    (expr) =>
      [...expr.matchAll(/(bodega_\w+)(?:\{(.*?)\})?/g)].flatMap(([, name = "", inBraces = ""]) => {
        const known = labels.get(name)?.[0]?.labels;
        const used = [...inBraces.matchAll(/(\w+)=~?"/g)].map(([, label = ""]) => label);
        return known && used.every((label) => label === "instance" || label in known) ? [] : [expr];
      }),
  );
  expect(missing).toEqual([]);
}, 30_000);

test("each alert says what happened and what to do, and panels have distinct names", () => {
  for (const { rules: all } of rules.groups) {
    expect(new Set(all.map(({ alert }) => alert)).size).toBe(all.length);
    for (const { annotations, labels } of all) {
      expect(annotations).toEqual({ summary: expect.any(String), action: expect.any(String) });
      expect(["info", "warning", "critical"]).toContain(labels.severity);
    }
  }
  expect(new Set(dashboard.panels.map(({ title }) => title)).size).toBe(dashboard.panels.length);
});

// To run it: go install github.com/prometheus/prometheus/cmd/promtool@latest
test.skipIf(promtool === null)("promtool accepts the alerts and the queries of the dashboard", () => {
  const dir = makeDir();
  const path = join(dir, "queries.yml");
  const plain = (expr: string) => expr.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*");
  const asRules = queries.map((expr, index) => ({ record: `panel:query:${index}`, expr: plain(expr) }));
  writeFileSync(path, JSON.stringify({ groups: [{ name: "dashboard", rules: asRules }] }));
  for (const file of [alerts, path]) {
    const { exitCode, stdout, stderr } = Bun.spawnSync([String(promtool), "check", "rules", file]);
    expect({ exitCode, text: `${stdout}${stderr}` }).toEqual({ exitCode: 0, text: expect.stringContaining("SUCCESS") });
  }
});
