import { expect, test } from "bun:test";
import { chmodSync, cpSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type Binary, useBinaries } from "../support/binary.ts";
import { findPort } from "../support/port.ts";
import type { Serving } from "../support/serving.ts";
import { startSqld } from "../support/sqld.ts";
import { openPage } from "./storefront-page.ts";

const { installBinary, makeDir } = useBinaries();

const read = (path: string) => readFileSync(join(import.meta.dir, "../..", path), "utf8");
const readme = read("README.md");
const quickstart = read("docs/QUICKSTART.md");
const converter = join(import.meta.dir, "../../examples/migration/convert.js");
const curl = Bun.which("curl");
/** Placeholders of the guides, with the patterns that find their values in earlier output. */
const placeholders: Record<string, RegExp> = {
  app_id: /\bapp_[0-9a-z]{26}\b/g,
  app_secret: /\bsk_[A-Za-z0-9_-]{43}/g,
  password: /\b(?:[A-Za-z0-9]{5}-){4}[A-Za-z0-9]{5}\b/g,
  code: /(?<=waiting +)\d{6}\b/g,
  event_id: /\bevt_[0-9a-z]{26}\b/g,
  order_id: /\bord_[0-9a-z]{26}\b/g,
  media_id: /\bmed_[0-9a-z]{26}\b/g,
  rate_id: /\bship_[0-9a-z]{26}\b/g,
  secret: /(?<="secret":")[A-Z2-7]+/g,
  product_id: /\bprod_[0-9a-z]{26}\b/g,
  token: /\bv2\.[A-Za-z0-9_-]{43}/g,
  user_id: /\busr_[0-9a-z]{26}\b/g,
  visitor: /(?<="visitor":")[^"]+/g,
  webhook_id: /\bwhk_[0-9a-z]{26}\b/g,
};

interface Block {
  language: "sh" | "js";
  /** The value of the comment above the block. Without a comment, the block is run to its end. */
  runs: "yes" | "no" | "background";
  text: string;
}

function readBlocks(markdown: string, languages: Block["language"][] = ["sh"]): Block[] {
  const form = new RegExp(
    `(?:<!-- runs: (no|background) -->\\s*)?\`\`\`(${languages.join("|")})\\n([\\s\\S]*?)\`\`\``,
    "g",
  );
  return [...markdown.matchAll(form)].map(([, runs, language, text]) => ({
    language: language as Block["language"],
    runs: (runs ?? "yes") as Block["runs"],
    text: (text as string).trim(),
  }));
}

/**
 * The machine of a reader: a directory with only the executable, a terminal, and a free port instead of the port in the
 * text.
 */
interface Reader {
  binary: Binary;
  port: string;
  /** The port of the webhook receiver that the reader runs. */
  receiverPort: string;
  /** A file with the variables that earlier blocks exported. */
  stateFile: string;
  /** Everything that the blocks have printed so far. */
  printed: string;
  /** Replacements for addresses in the text. */
  addresses?: Record<string, string> | undefined;
}

async function openReader(): Promise<Reader> {
  const binary = installBinary();
  const tools = makeDir();
  const stateFile = join(tools, "exported");
  writeFileSync(stateFile, "");
  // The shell must stop at an error reply.
  writeFileSync(join(tools, "curl"), `#!/bin/sh\nexec ${curl} --fail-with-body --silent --show-error "$@"\n`);
  // Bun replaces Node here, because every machine with the tests has Bun.
  writeFileSync(join(tools, "node"), `#!/bin/sh\nexec ${process.execPath} "$@"\n`);
  for (const tool of ["curl", "node"]) chmodSync(join(tools, tool), 0o755);
  const [port, receiverPort] = [String(findPort()), String(findPort())];
  Object.assign(binary.env, { PATH: `${tools}:${binary.dir}:${binary.env.PATH}`, BODEGA_PORT: port });
  return { binary, port, receiverPort, stateFile, printed: "" };
}

/** Runs blocks in order: blocks for a page in `page`, others in the terminal. Stops the servers that blocks started. */
async function follow(reader: Reader, blocks: Block[], page?: AsyncGenerator): Promise<void> {
  const servers: Serving[] = [];
  const sqld = blocks.some(({ text }) => text.includes("sqld")) ? await startSqld() : undefined;
  reader.addresses = sqld && { "http://127.0.0.1:8081": sqld.url, "http://127.0.0.1:8082": sqld.admin };
  for (const { language, runs, text } of blocks.filter(({ runs }) => runs !== "no")) {
    if (language === "js") {
      await page?.next();
      continue;
    }
    const filled = fillIn(text, reader);
    if (runs === "background") {
      expect(filled).not.toContain("\n");
      servers.push(await reader.binary.serveBy(["sh", "-c", `exec ${filled}`]));
      continue;
    }
    const { code, output } = await paste(filled, reader);
    expect({ text, code, output }).toEqual({ text, code: 0, output });
    reader.printed += output;
  }
  for (const server of servers) {
    const code = await server.end();
    expect(code).toBe(server.log().includes("Only one server may write there") ? 4 : 0);
  }
  await sqld?.stop();
}

test.skipIf(!curl).each(["README", "docs/QUICKSTART"])(
  "the blocks of %s.md run without an error",
  async (name) => {
    const blocks = readBlocks(read(`${name}.md`));
    expect(blocks.filter(({ runs }) => runs === "yes").length).toBeGreaterThan(1);
    expect(blocks.filter(({ runs }) => runs === "background").length).toBeGreaterThan(0);
    await follow(await openReader(), blocks);
  },
  60_000,
);

/** The files and the output of the first block of the quickstart, which all readers share. */
let model: { files: string; printed: string } | undefined;

const copyFiles = (from: string, to: string) =>
  cpSync(from, to, { recursive: true, filter: (path) => basename(path) !== "bodega" });

test.skipIf(!curl).each(["API", "STORE", "CONTENT", "OPERATION", "MIGRATION", "WEBHOOKS", "STORES", "LAW"])(
  "the tasks of docs/%s.md work for a reader of the quickstart who pastes them one after another",
  async (name) => {
    const text = read(`docs/${name}.md`);
    const blocks = readBlocks(text.split("\n# Reference\n", 1)[0] as string);
    expect(blocks.filter(({ runs }) => runs === "yes").length).toBeGreaterThan(2);
    // The blocks of the quickstart that create shop, server and header file. Their first block runs only once for all
    // readers.
    const [init, ...prepared] = readBlocks(quickstart).slice(0, 3) as [Block, Block, Block];
    const reader = await openReader();
    if (model === undefined) {
      const files = makeDir();
      await follow(reader, [init]);
      copyFiles(reader.binary.dir, files);
      model = { files, printed: reader.printed };
    } else {
      copyFiles(model.files, reader.binary.dir);
      reader.printed = model.printed;
    }
    // The guide tells its reader to copy this file of the repository.
    if (name === "MIGRATION") cpSync(converter, join(reader.binary.dir, basename(converter)));
    await follow(reader, [...prepared, ...blocks]);
  },
  60_000,
);

test.skipIf(!curl)(
  "the shop front of docs/STOREFRONT.md works, pasted into a terminal and a page of an allowed site",
  async () => {
    const text = read("docs/STOREFRONT.md");
    const blocks = readBlocks(text, ["sh", "js"]);
    const reader = await openReader();
    const { page, images, written, close } = openPage(
      reader,
      blocks.flatMap(({ language, text }) => (language === "js" ? [text] : [])),
      (name) => latest(name, reader.printed) as string,
    );
    const checks = [{ language: "js", runs: "yes", text: "" } as const];
    await follow(reader, [...blocks, ...checks], page).finally(close);
    expect(images).toHaveLength(5);
    expect(written.filter((line) => line === "true 1")).toHaveLength(1);
    expect(written).toContain("Kitchen 5");
    expect(written.filter((line) => line === "Enamel mug 12.5 EUR")).toHaveLength(2);
    expect(written.filter((line) => /^Signed|^Still/.test(line))).toEqual(["Signed in", "Signed in", "Signed in"]);
    expect(written).toContainEqual(expect.stringMatching(/^.+ \d+(?:\.\d+)? true$/));
    expect(written).toContainEqual(expect.stringMatching(/^\d+(?:\.\d+)? 2 pending$/));
    expect(written).toContain("Parcel 4.9");
    expect(written).toContainEqual(expect.stringMatching(/^1 unpaid \d+(?:\.\d+)? EUR RF\w+$/));
    expect(written.slice(-2)).toEqual(["5300", "5300"]);
    expect(reader.printed).toMatch(/HTTP\/1.1 304/);
    expect(reader.printed).toContain('"code":5211');
  },
  60_000,
);

/** Returns the value of a placeholder that was printed last. */
function latest(name: string, printed: string): string | undefined {
  return (placeholders[name] && printed.match(placeholders[name])?.at(-1)) || undefined;
}

test("the tests run all commands of the README, except those that set up a checkout", () => {
  const lines = readBlocks(readme).flatMap(({ runs, text }) => (runs === "no" ? text.split("\n") : []));
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(line).toMatch(/^npm (?:start|test|run \w+)$/);
});

/** Runs a block in the reader's shell, with the variables that earlier blocks exported. */
async function paste(block: string, { binary, stateFile }: Reader): Promise<{ code: number; output: string }> {
  const script = `. '${stateFile}'\n${block}\nexport -p > '${stateFile}'\n`;
  // The output goes to a file, because some versions of curl fail if a pipe is full.
  const printed = Bun.file(`${stateFile}.printed`);
  writeFileSync(`${stateFile}.printed`, "");
  const child = Bun.spawn(["sh", "-euc", script], {
    cwd: binary.dir,
    env: binary.env,
    stdin: "ignore",
    stdout: printed,
    stderr: "pipe",
  });
  const [stderr, code] = await Promise.all([child.stderr.text(), child.exited]);
  return { code, output: (await printed.text()) + stderr };
}

/** Replaces placeholders in a block by their latest values, and ports by those of this test. */
function fillIn(block: string, { port, receiverPort, printed, addresses = {} }: Reader): string {
  const [said, own] = [Object.keys(addresses), Object.values(addresses)];
  const addressed = said.reduce((text, address, index) => text.replaceAll(address, own[index] as string), block);
  // Both ports are replaced in one pass, because a free port may contain the digits of the other port.
  const reachable = addressed.replaceAll(/8080|9000/g, (digits) => (digits === "8080" ? port : receiverPort));
  return reachable.replaceAll(/<([a-z]+(?:_[a-z]+)*)>/g, (whole, name: string) => {
    // A name with a closing tag is an HTML element, not a placeholder.
    if (block.includes(`</${name}>`)) return whole;
    const value = latest(name, printed);
    if (value === undefined) throw new Error(`Nothing that was printed so far is ${whole} of:\n${block}`);
    return value;
  });
}
