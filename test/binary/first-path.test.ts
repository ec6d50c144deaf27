import { afterAll, beforeAll, expect, test } from "bun:test";
import { isolateExecutable, type LoneExecutable } from "./lone-executable.ts";

let bodega: LoneExecutable;

beforeAll(() => {
  bodega = isolateExecutable();
});

afterAll(() => bodega.remove());

async function runJson(...args: string[]): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await bodega.run([...args, "--json"]);
  if (code !== 0) throw new Error(`${args.join(" ")}: ${code} ${stderr}`);
  return JSON.parse(stdout);
}

for (const workers of [[], ["--workers", "2"]]) {
  test(`a key works from the call after it is published to the one before it is withdrawn ${workers.join(" ")}`, async () => {
    const namespace = `demo${workers.length}`;
    await runJson("tenant", "create", namespace, "--title", "Demo", "--currency", "EUR");
    const { app_id, app_secret } = await runJson("key", "issue", "-n", namespace, "--name", "web");
    const server = await bodega.serve(workers);
    // A connection each, so that with workers both of them are asked.
    const ask = async () => {
      const response = await fetch(`${server.url}/products/?namespace=${namespace}`, {
        headers: { authorization: `Bearer ${app_id}:${app_secret}`, connection: "close" },
      });
      const body = (await response.json()) as { error?: { code: number }; data?: unknown[] };
      return `${response.status} ${body.error?.code ?? "ok"}`;
    };
    const askOften = async () => [...new Set(await Promise.all([ask(), ask(), ask(), ask()]))];
    try {
      expect(await ask()).toBe("401 5203");
      await runJson("key", "publish", app_id ?? "");
      expect(await askOften()).toEqual(["200 ok"]);
      await runJson("key", "unpublish", app_id ?? "");
      expect(await askOften()).toEqual(["401 5203"]);
    } finally {
      expect(await server.stop()).toBe(0);
    }
  });
}
