import type { Page } from "puppeteer-core";
import { click, find } from "./chromium.ts";

/** Fills the fields of a form by their names, and sends the page their events. */
export async function fillIn(page: Page, form: string, values: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(values)) {
    const field = await find(page, `${form} [name=${name}]`);
    await field.evaluate((one, text) => {
      Object.assign(one, { value: text });
      one.dispatchEvent(new Event("change", { bubbles: true }));
    }, value);
  }
}

/** Fills and submits a form. */
export async function submit(page: Page, form: string, values: Record<string, string>): Promise<void> {
  await fillIn(page, form, values);
  await click(page, `${form} button[type=submit]`);
}

export async function chooseLanguage(page: Page, language: string): Promise<void> {
  // Waits until the page has loaded, because its buttons do not work before.
  await find(page, "main .card h2 a");
  await click(page, `.languages button[value=${language}]`);
  await page.waitForFunction(`document.documentElement.lang === "${language}"`);
}
