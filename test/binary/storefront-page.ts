import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { Secret, TOTP } from "otpauth";
import { sharedStorage } from "../client/connect.ts";

/**
 * Imitates a page of an allowed site: runs the blocks for pages, one at each `next`. At the end, it fetches all
 * pictures in all widths, and makes calls that are forbidden for its key.
 */
export function openPage(
  reader: { port: string; stateFile: string; printed: string },
  blocks: string[],
  find: (name: string) => string,
) {
  const images: { src: string; srcset: string }[] = [];
  const written: string[] = [];
  let codes = 0;
  const document = {
    createElement: () => ({}),
    body: { append: (...added: typeof images) => images.push(...added), insertAdjacentHTML: () => undefined },
  };
  Object.assign(globalThis, { document });
  async function fetchFromSite(url: string, options: RequestInit) {
    const headers = { ...(options.headers as Record<string, string>), Origin: "http://localhost:5173" };
    const reply = await fetch(url, { ...options, headers });
    reader.printed += `${await reply.clone().text()}\n`;
    return reply;
  }
  const browser = {
    valueOf: find,
    document,
    localStorage: sharedStorage(),
    /** Loads the client from the server, as a page imports it. */
    async load(address: string) {
      const file = `${reader.stateFile}.mjs`;
      writeFileSync(file, await (await fetch(address)).text());
      const { createClient } = await import(file);
      return { createClient: (options: object) => createClient({ ...options, fetch: fetchFromSite }) };
    },
    // Each code is accepted only once, so this is the code of the next half minute.
    prompt: () => {
      const secret = Secret.fromBase32(find("secret"));
      return new TOTP({ secret }).generate({ timestamp: Date.now() + 30_000 * codes++ });
    },
    console: { log: (...values: unknown[]) => written.push(values.join(" ")) },
    async check() {
      for (const { src, srcset } of images) {
        for (const address of [src, ...srcset.split(/ \d+w(?:, )?/).filter(Boolean)]) {
          const { status, headers } = await fetch(address);
          expect([status, headers.get("content-type")]).toEqual([200, "image/webp"]);
        }
      }
    },
  };
  const steps = blocks.map((text) => `${text}\nyield;\n`);
  const program = `${steps.join("")}await check();
    for (const name of ["GET /users/", "GET /orders/"])
      console.log(await shop.call(name, { as: "key" }).catch(({ code }) => code));`;
  const imported = program.replace(/^import (.+) from (".+");$/m, "const $1 = await load($2);");
  const filled = imported.replaceAll("8080", reader.port).replaceAll(/"<([a-z_]+)>"/g, 'valueOf("$1")');
  const Program = Object.getPrototypeOf(async function* () {}).constructor;
  const page: AsyncGenerator = new Program(...Object.keys(browser), filled)(...Object.values(browser));
  return { page, images, written, close: () => Reflect.deleteProperty(globalThis, "document") };
}
