// Draws details of the drawings in tools/demo-pictures with Chromium, as pictures of the demo's products.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import puppeteer from "puppeteer-core";
import details from "../tools/demo-pictures/details.json" with { type: "json" };

const root = join(import.meta.dir, "..");
const browser = await puppeteer.launch({ executablePath: Bun.which("chromium") as string, args: ["--no-sandbox"] });
const page = await browser.newPage();
await page.setViewport({ width: 640, height: 640 });
for (const [name, views] of Object.entries(details)) {
  const drawing = readFileSync(join(root, "tools/demo-pictures", `${name}.svg`), "utf8");
  for (const [index, [x, y, size]] of Object.values(views).entries()) {
    const view = `viewBox="${x} ${y} ${size} ${size}" width="640" height="640" style="display: block"`;
    await page.setContent(`<body style="margin: 0">${drawing.replace('viewBox="0 0 640 640"', view)}`);
    const drawn = await page.screenshot({ type: "png" });
    const path = join(root, "src/server/admin/demo-pictures", `detail-${index + 1}/${name}.webp`);
    writeFileSync(path, await new Bun.Image(drawn).webp({ quality: 55 }).bytes());
  }
}
await browser.close();
