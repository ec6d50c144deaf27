import { expect, test } from "bun:test";
import { bundleClient, bundleClientTypes } from "../../scripts/build-client.ts";
import { useBinaries } from "../support/binary.ts";

const { installBinary } = useBinaries();

test("the executable serves the client and its types as they are built from the source", async () => {
  const server = await installBinary().serve();
  const read = async (path: string) => (await fetch(`${server.url}${path}`)).text();
  expect(await read("/client.js")).toBe(await bundleClient());
  expect(await read("/client.d.ts")).toBe(await bundleClientTypes());
  expect(await server.end()).toBe(0);
}, 60_000);
