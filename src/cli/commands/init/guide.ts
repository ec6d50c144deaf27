import { relative } from "node:path";
import { defaultDataDir } from "../../../server/config/config.ts";
import { currencyDigits } from "../../../server/modules/tenants/currency.ts";
import { quoteWords } from "../../terminal/command-line.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { renderFields } from "../../terminal/fields.ts";
import { programName } from "../../terminal/program-name.ts";
import { wrapWords } from "../../terminal/wrap.ts";
import type { Outcome } from "./outcome.ts";
import { startCommands } from "./service-files.ts";

/**
 * What was made, a first request that works when pasted into a shell, and what comes next.
 * @param columns of the terminal that it goes to; undefined for a file or pipe.
 */
export function formatGuide(
  outcome: Outcome,
  url: string,
  secret: string | undefined,
  columns: number | undefined,
): string {
  const shop = renderFields(describeShop(outcome, url, secret), { width: columns, color: false });
  return `\n${[shop.trimEnd(), ...nextSteps(outcome, url, secret, columns)].join("\n\n")}\n\n`;
}

function describeShop(
  { setup, config, files, mail, settings, password }: Outcome,
  url: string,
  secret: string | undefined,
): [label: string, value: string][] {
  const { store, owner, key } = setup;
  const rows: [string, string | false | null | undefined][] = [
    ["Store", `${store.title}, ${store.currency}, ${store.language}`],
    ["Namespace", store.namespace],
    ["Owner", owner?.email],
    ["Password", password ?? (files.password && `in ${files.password}`)],
    ["Key", key && `${key.name}, ${key.published ? "published" : "not published yet"}`],
    ["App id", key?.app_id],
    ["App secret", secret ?? (files.secret && `in ${files.secret}`)],
    ["Mail", mail && `${new URL(mail.smtpUrl).host}, from ${mail.mailFrom}${mail.trial ? "" : " (not tried)"}`],
    ["Folder", config.dataDir],
    ["Settings", settings.written.length > 0 && settings.path],
    ["Address", url],
  ];
  const shown = rows.filter((row): row is [string, string] => Boolean(row[1]));
  return shown.map(([label, value]) => [label, escapeControls(value)]);
}

function nextSteps(outcome: Outcome, url: string, secret: string | undefined, columns: number | undefined): string[] {
  const { setup, files, unit, run, config } = outcome;
  const { key } = setup;
  const program = programName();
  const folder = isUsualFolder(config.dataDir) ? "" : ` --data-dir ${quoteWords(config.dataDir)}`;
  const bodega = (line: string) => `${program} ${line}${folder}`;
  const steps: [title: string, lines: (string | false)[]][] = [];
  if (unit !== null && !unit.started) {
    const write = run === "unit" && `# put it into ${unit.path}`;
    steps.push(["Start it, now and with the machine", [write, ...startCommands.map((words) => words.join(" "))]]);
  } else if (run === "compose")
    steps.push([
      "Start it, with that as compose.yaml",
      ["docker build -t bodega . # in the checkout, once", "docker compose up -d"],
    ]);
  else if (run !== "serve" && unit === null) steps.push(["Serve it", [bodega("serve")]]);
  if (key !== null && !key.published) steps.push(["Publish the key", [bodega(`key publish ${key.app_id}`)]]);
  if (key !== null && files.secret !== undefined) {
    const file = quoteWords(nearPath(files.secret));
    const headerFile = nearPath(`${files.secret.replace(/\.secret$/, "")}.header`);
    const header = `(umask 077; ${printHeader(key.app_id, `"$(cat ${file})"`)} > ${quoteWords(headerFile)})`;
    steps.push(["Create the first product", [header, firstRequest(setup, url, quoteWords(`@${headerFile}`))]]);
  } else if (key !== null && secret !== undefined) {
    const line = `read -rs APP_SECRET; ${printHeader(key.app_id, '"$APP_SECRET"')} | ${firstRequest(setup, url, "@-")}`;
    steps.push(["Create the first product; it waits for the app secret, and shows nothing of it", [line]]);
  }
  steps.push(["See whether all is well", [bodega("doctor"), `${program} --help`]]);
  return steps.map(([title, lines]) => {
    const above = wrapWords(title, (columns ?? Number.POSITIVE_INFINITY) - 2).map((line) => `# ${line}`);
    // Commands stay whole: a terminal gives a line back in one piece, however it shows it.
    return [...above, ...lines.filter((line) => line !== false)].join("\n");
  });
}

/** The secret goes from the shell into a file or a pipe: it stands neither in the history nor among a program's arguments. */
function printHeader(appId: string, secret: string): string {
  return `printf 'Authorization: Bearer %s:%s' ${appId} ${secret}`;
}

function firstRequest({ store, key }: Outcome["setup"], url: string, header: string): string {
  const origin = exampleOrigin(key?.origins ?? []);
  const price = currencyDigits(store.currency) === 0 ? 1250 : 12.5;
  const words = [
    `curl -H ${header} -H 'Content-Type: application/json'`,
    ...(origin === undefined ? [] : [`-H ${quoteWords(`Origin: ${origin}`)}`]),
    `-d ${quoteWords(JSON.stringify({ title: "Enamel mug", price, stock: 40 }))}`,
    quoteWords(`${url}/products/?namespace=${store.namespace}`),
  ];
  return words.join(" ");
}

/** As it is named from where the command was given, unless it lies elsewhere. */
function nearPath(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith("..") ? path : near;
}

/** An origin that the key takes; a host below the entry where that names all of these. */
function exampleOrigin(origins: readonly string[]): string | undefined {
  const first = origins.find((entry) => !entry.includes("*")) ?? origins[0];
  if (first === undefined) return undefined;
  const named = first.replace("*.", "www.");
  return /^https?:/.test(named) ? named : `https://${named}`;
}

/** Whether commands find the folder without being told. */
export function isUsualFolder(dataDir: string): boolean {
  return relative(process.cwd(), dataDir) === defaultDataDir;
}
