import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { AxeResults } from "axe-core";
import puppeteer, { type Browser, type BrowserContext, type ElementHandle, type Page } from "puppeteer-core";

/** How many milliseconds to wait for a page; enough for a busy machine. */
const timeout = 15_000;

/** The path of Debian's Chromium; undefined if it is not installed. */
export const chromium = Bun.which("chromium") ?? undefined;

/** The source of axe-core. A page compiles the minified form in half the time. */
const axe = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** Chromium itself sends requests to these hosts. Requests of pages to these hosts are collected all the same. */
const makers = /\b(?:google|googleapis)\.com\b/;

/** A page of a new visitor, with empty storage. Its errors and requests are collected. */
export interface Visit {
  page: Page;
  context: BrowserContext;
  /** Allows console errors that match, such as the browser's report of a status 401. */
  allow: (...errors: RegExp[]) => void;
}

export interface VisitOptions {
  width?: number;
  height?: number;
  /** Whether the shop's service worker runs. It loads all files of the shop, which takes a second of the processor. */
  hasWorker?: boolean;
}

/** A running browser. All tests share it, because its start takes a second of processor time. */
export interface Chromium {
  browser: Browser;
  visit: (url: string, options?: VisitOptions) => Promise<Visit>;
  /** Ends the visits of a test. Returns the errors in their consoles, and their requests to other machines. */
  endVisits: () => Promise<string[]>;
  close: () => Promise<void>;
}

/**
 * Starts the browser. A proxy refuses requests to other machines. Each such request fails the test, even one from a
 * service worker.
 * @param own origins to which pages may send requests.
 */
export async function startChromium(own: () => readonly string[]): Promise<Chromium> {
  const leaving: string[] = [];
  const proxy = createServer(({ url }, response) => {
    leaving.push(`left the machine: ${url}`);
    response.writeHead(403).end();
  });
  proxy.on("connect", ({ url }, socket) => {
    leaving.push(`left the machine: ${url}`);
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const browser = await puppeteer.launch({
    executablePath: chromium as string,
    args: [
      `--proxy-server=http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      "--disable-background-networking",
      // Nobody looks at the pages, so they need no graphics and no animations.
      "--disable-gpu-rasterization",
      "--in-process-gpu",
      "--force-prefers-reduced-motion",
      // Chromium's sandbox does not start for root.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    ],
  });
  const visits: { context: BrowserContext; faults: string[]; allowed: RegExp[] }[] = [];

  async function visit(url: string, options: VisitOptions = {}): Promise<Visit> {
    const { width = 1280, height = 800, hasWorker = false } = options;
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    const faults: string[] = [];
    const allowed: RegExp[] = [];
    visits.push({ context, faults, allowed });
    page.on("console", (message) => {
      if (message.type() === "error") faults.push(`${message.text()} ${message.location().url ?? ""}`);
    });
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("request", (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol.startsWith("http") && !own().includes(origin)) faults.push(`asked ${request.url()}`);
    });
    await page.setViewport({ width, height });
    const noWorker = "if (navigator.serviceWorker) navigator.serviceWorker.register = async () => {}";
    if (!hasWorker) await page.evaluateOnNewDocument(noWorker);
    await page.goto(url);
    return { page, context, allow: (...errors) => allowed.push(...errors) };
  }

  return {
    browser,
    visit,
    async endVisits() {
      const faults = leaving.splice(0).filter((fault) => !makers.test(fault));
      for (const { context, faults: own, allowed } of visits.splice(0)) {
        faults.push(...own.filter((fault) => !allowed.some((pattern) => pattern.test(fault))));
        await context.close();
      }
      return faults;
    },
    async close() {
      await browser.close();
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}

// Code for a page is written as text, because the project has only the types of a server.

/** Waits for a visible element with this text. */
export async function find(page: Page, selector: string, text = ""): Promise<ElementHandle> {
  const [where, what] = [selector, text].map((value) => JSON.stringify(value));
  const probe = `[...document.querySelectorAll(${where})]
    .find((one) => one.textContent.includes(${what}) && one.checkVisibility())`;
  const found = await page.waitForFunction(probe, { polling: 100, timeout }).catch(async () => {
    throw new Error(`No ${selector} with the text "${text}" in the page: ${await describe(page)}`);
  });
  return found as ElementHandle;
}

/** Clicks an element with this text, as soon as there is one. */
export async function click(page: Page, selector: string, text = ""): Promise<void> {
  await (await find(page, selector, text)).evaluate((one) => (one as unknown as { click: () => void }).click());
}

/** Waits until the page shows a text. */
export async function see(page: Page, text: string): Promise<void> {
  const probe = `document.body.innerText.includes(${JSON.stringify(text)})`;
  await page.waitForFunction(probe, { polling: 100, timeout }).catch(async () => {
    throw new Error(`"${text}" is not in the page: ${await describe(page)}`);
  });
}

const describe = async (page: Page) => `${page.url()} ${(await readText(page)).slice(0, 1000)}`;

/** Returns the visible text of an element. */
export const readText = (page: Page, selector = "body") =>
  page.$eval(selector, (one) => (one as unknown as { innerText: string }).innerText);

/** Whether the page is wider than the screen. */
export const isWiderThanScreen = (page: Page) =>
  page.evaluate("document.documentElement.scrollWidth > innerWidth") as Promise<boolean>;

/** Lists findings of axe-core that prevent people from using the page, as `rule: element`. */
export async function findBarriers(page: Page): Promise<string[]> {
  // A form or button that waits for the server has less contrast.
  const isIdle = `!document.querySelector(":is(form, .button)[aria-busy=true]")`;
  await page.waitForFunction(isIdle, { polling: 100, timeout });
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe);
  const run = 'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)';
  return ((await page.evaluate(run)) as AxeResults["violations"])
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`));
}
