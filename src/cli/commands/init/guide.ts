import { relative } from "node:path";
import { defaultDataDir } from "../../../server/config/env-file.ts";
import { currencyDigits } from "../../../server/modules/tenants/input.ts";
import { othersOf } from "../../../server/runtime/port.ts";
import { programName, quoteWords } from "../../terminal/command-line.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { renderFields } from "../../terminal/table.ts";
import { wrapWords } from "../../terminal/wrap.ts";
import type { Outcome } from "./create.ts";
import { startCommands } from "./unit.ts";

export function formatGuide(outcome: Outcome, url: string, columns: number | undefined): string {
  const store = renderFields(listFields(outcome, url), { width: columns, color: false }).trimEnd();
  const steps = listSteps(outcome, url).map(([title = "", ...lines]) => {
    const heading = wrapWords(title, (columns ?? Number.POSITIVE_INFINITY) - 2).map((line) => `# ${line}`);
    // Commands stay on one line, which a terminal copies in one piece even if it wraps it.
    return [...heading, ...lines].join("\n");
  });
  return `\n${[store, ...steps].join("\n\n")}\n\n`;
}

export function mailHost({ smtpUrl }: Outcome["config"]): string | undefined {
  return smtpUrl && new URL(smtpUrl).host;
}

function listFields({ setup, config, files, settings, secrets }: Outcome, url: string): [string, string][] {
  const { store, owner, key } = setup;
  const rows: [label: string, value: string | false | null | undefined][] = [
    ["Store", `${store.title}, ${store.currency}, ${store.language}`],
    ["Namespace", store.namespace],
    ["Owner", owner?.email],
    ["Password", secrets.password ?? (files.password && `in ${files.password}`)],
    ["Key", key && `${key.name}, ${key.published ? "published" : "not published"}`],
    ["App id", key?.app_id],
    ["App secret", secrets.key ?? (files.key && `in ${files.key}`)],
    ["Mail", config.smtpUrl && `${mailHost(config)}, from ${config.mailFrom}`],
    ["Data", config.dataDir],
    ["Replica", config.replicateTo],
    ["Settings", settings.written.length > 0 && settings.path],
    ["Address", `${url}${othersOf(config)}`],
  ];
  return rows.flatMap(([label, value]): [string, string][] => (value ? [[label, escapeControls(value)]] : []));
}

function listSteps(outcome: Outcome, url: string): string[][] {
  const { setup, run, config, unit, runningUrl, settings } = outcome;
  const isStopped = run === "none" && runningUrl === undefined;
  const { key } = setup;
  const program = programName();
  const isDefault = relative(process.cwd(), config.dataDir) === defaultDataDir;
  const bodega = (words: string) =>
    `${program} ${words}${isDefault ? "" : ` --data-dir ${quoteWords(config.dataDir)}`}`;
  const price = currencyDigits(setup.store.currency) === 0 ? 1250 : 12.5;
  const product = `--title "Enamel mug" --price ${price} --stock 40`;
  const add = (flags: string) => bodega(`init -n ${setup.store.namespace}${setup.owner ? "" : " --no-owner"} ${flags}`);
  const steps: (string[] | false)[] = [
    unit !== null &&
      !unit.started && ["Start the server now and at every boot", ...startCommands.map((words) => words.join(" "))],
    runningUrl !== undefined && [
      `The server runs already${settings.written.length > 0 ? ". Restart it to apply the new settings" : ""}`,
    ],
    isStopped && ["Start the server", bodega("serve")],
    isStopped && ["Print a systemd unit that starts it", bodega("init --print-unit")],
    key !== null && !key.published && ["Publish the key", bodega(`key publish ${key.app_id}`)],
    setup.made.store && ["Create the first product", bodega(`product create -n ${setup.store.namespace} ${product}`)],
    setup.made.key && [`API reference: ${url}/docs`],
    config.smtpUrl === undefined && [
      "Mail stays in the queue until there is a mail server. Add one",
      add("--smtp-url-file <file> --mail-from <address>"),
    ],
    config.replicateTo === undefined &&
      config.databaseUrl === undefined && [
        "There is no replica. To copy each change to another disk or to S3",
        add("--replicate-to <dir|s3://bucket/prefix>"),
      ],
    ["Check the installation", bodega("doctor"), `${program} --help`],
  ];
  return steps.filter((step) => step !== false);
}
