// Draws the pictures of the README with the built executable: the demo shop in Chromium, and the output of commands.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer from "puppeteer-core";

const root = join(import.meta.dir, "..");
const executable = join(root, "dist", "bodega");
const dir = mkdtempSync(join(tmpdir(), "bodega-pictures-"));
const env = { PATH: process.env.PATH ?? "", TERM: "xterm", BODEGA_DATA_DIR: join(dir, "data") };
const commands = ["bodega product list -n demo --limit 5", "bodega order list -n demo", "bodega key list -n demo"];
/** The colours of a terminal. The class `c31` stands for the escape sequence with the number 31. */
const style = `<style>
  body { margin: 0; padding: 20px 24px; background: #14161f; color: #dde1ec; font: 15px/1.45 "DejaVu Sans Mono", monospace; }
  pre { margin: 0; font: inherit; white-space: pre-wrap; }
  .c1, .prompt { font-weight: bold } .c2 { opacity: 0.65 } .c31 { color: #ff8f8f } .c32, .prompt { color: #8fdc9a }
  .c33 { color: #f0cd76 } .c34 { color: #86b0ff } .c35 { color: #d9a0f5 } .c36 { color: #79d3d6 } .c90 { color: #8b92a8 }
</style>`;

type Demo = Record<"shop_url" | "url" | "app_id" | "app_secret", string>;

async function startDemo() {
  const child = Bun.spawn([executable, "demo", "--json", "--port", "0"], {
    env,
    cwd: dir,
    stdout: "pipe",
    stderr: "ignore",
  });
  const { value } = await child.stdout.getReader().read();
  return { child, demo: JSON.parse(new TextDecoder().decode(value)) as Demo };
}

async function sell({ url, app_id, app_secret }: Demo): Promise<void> {
  const headers = { authorization: `Bearer ${app_id}:${app_secret}`, "content-type": "application/json" };
  const call = async (path: string, body?: object) => {
    const reply = await fetch(`${url}${path}?namespace=demo`, {
      headers,
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
    return ((await reply.json()) as { data: { id: string } }).data.id;
  };
  for (const [slug, quantity] of Object.entries({ "desk-lamp": 1, "walnut-spoon": 3, "enamel-mug": 2 })) {
    const product_id = await call(`/products/${slug}/`);
    const order = await call("/orders/", { items: [{ product_id, quantity }] });
    if (quantity > 1) await call(`/orders/${order}/pay/`, {});
  }
}

/** Runs a command at a terminal of 100 columns. Returns its output as HTML, with the classes of `style`. */
async function runAtTerminal(line: string): Promise<string> {
  const decoder = new TextDecoder();
  let screen = "";
  const terminal = {
    ...{ cols: 100, rows: 40 },
    data(_: unknown, bytes: Uint8Array) {
      screen += decoder.decode(bytes, { stream: true });
    },
  };
  await Bun.spawn([executable, ...line.split(" ").slice(1)], { env, cwd: dir, terminal }).exited;
  const text = screen.replaceAll("\r", "").replaceAll("&", "&amp;").replaceAll("<", "&lt;").trimEnd();
  const colours = text.split("\u001b[").map((part, index) => {
    const end = index === 0 ? -1 : part.search(/[A-Za-z]/);
    const classes = part
      .slice(0, Math.max(end, 0))
      .split(";")
      .map((code) => `c${code}`);
    return `<span class="${classes.join(" ")}">${part.slice(end + 1)}</span>`;
  });
  return `<pre><span class="prompt">$</span> ${line}\n${colours.join("")}</pre><br>`;
}

const { child, demo } = await startDemo();
const browser = await puppeteer.launch({ executablePath: Bun.which("chromium") as string, args: ["--no-sandbox"] });
try {
  await sell(demo);
  const images = join(root, "docs", "images");
  const shop = await browser.newPage();
  await shop.setViewport({ width: 1280, height: 800 });
  await shop.goto(demo.shop_url, { waitUntil: "networkidle0" });
  await shop.screenshot({ path: join(images, "shop.webp"), type: "webp", quality: 85 });
  const parts = [];
  for (const line of commands) parts.push(await runAtTerminal(line));
  // A new page, because the content security policy of the shop does not allow this style.
  const terminal = await browser.newPage();
  await terminal.setViewport({ width: 980, height: 300 });
  await terminal.setContent(style + parts.join("\n"));
  await terminal.screenshot({ path: join(images, "terminal.webp"), type: "webp", quality: 85, fullPage: true });
} finally {
  await browser.close();
  child.kill();
  await child.exited;
  rmSync(dir, { recursive: true, force: true });
}
