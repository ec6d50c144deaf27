import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { suggestNamespace } from "../../src/cli/commands/init/questions.ts";
import { certificate, certificateKey } from "../support/certificate.ts";
import { findPort } from "../support/port.ts";
import { until } from "../support/until.ts";
import { makeDir, openCli, runAtTerminal, stripEscapes } from "./run-bodega.ts";
import { runHere } from "./run-here.ts";
import { useSharedTerminal } from "./shared-terminal.ts";

type Steps = [expect: string, send: string][];

interface InitReply {
  namespace: string;
  store: Record<string, unknown>;
  owner: Record<string, unknown> | null;
  key: Record<string, unknown> | null;
  made: string[];
  kept: string[];
  [name: string]: unknown;
}

const answerHere = useSharedTerminal(100);
const ctrlC = "\u0003";
const eraseLine = "\u0015";
const password = "Marmalade-Teapot-73";
const unattended = ["--title", "Ada's mugs", "--owner-email", "ada@example.com", "--random-password"];

/** Returns functions that run commands on a data directory that does not exist yet. */
function openNew() {
  const cli = openCli();
  const here = (line: string[], env = {}) => runHere(line, { env: cli.environment(env) });
  const init = (...flags: string[]) => cli.json<InitReply>("init", ...flags);
  const atTerminal = async (steps: Steps, ...flags: string[]) => {
    const { code, screen } = await answerHere(["init", ...flags], steps, cli.environment());
    return { code, screen: stripEscapes(screen) };
  };
  return { ...cli, here, init, atTerminal, isUntouched: () => !existsSync(cli.dataDir) };
}

const storeSteps: Steps = [
  ["Name of the store", "Ada's Mugs\r"],
  ["Namespace (name of the store", "\r"],
  ["Currency of prices", "chf\r"],
  ["Default language", "\r"],
  ["Country of the store", "\r"],
];
const ownerSteps: Steps = [
  ["Owner email", "ada@example.com\r"],
  ["Owner name", "Ada\r"],
  ["New password", `${password}\r`],
  ["Repeat the password", `${password}\r`],
];
const keySteps: Steps = [
  ["Sites whose pages may use the key", "shop.example.com, *.example.org\r"],
  ["(storefront)", "\r"],
  ["Publish the key now?", "\r"],
];
/** Flags that answer all questions, except those of a test. */
const answered =
  "--title Mugs -n mugs --currency EUR --language en --country DE --no-owner --key-name web --origin a.example --publish --no-serve";

function writeSmtpUrl(url: string): string {
  const file = join(makeDir(), "smtp.url");
  writeFileSync(file, `${url}\n`);
  return file;
}

test("prompts of init lead to a served shop whose page can list products; the printed guide mentions mail and replica", async () => {
  const { dataDir, environment, json } = openNew();
  const port = String(findPort());
  const secretFile = join(makeDir(), "web.secret");
  const steps: Steps = [
    ...storeSteps,
    ...ownerSteps,
    ...keySteps,
    ["Start the server in this terminal", "\r"],
    // The log line of the refused request below.
    ["POST /products/", ctrlC],
  ];
  const line = ["init", "--port", port, "--save-secret-to", secretFile];
  const ended = runAtTerminal(line, steps, { env: environment() });
  const url = `http://127.0.0.1:${port}`;
  await until("the server", () =>
    fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const [key] = await json<{ app_id: string }[]>("key", "list", "-n", "ada-s-mugs");
  const ask = (init: RequestInit) =>
    fetch(`${url}/products/?namespace=ada-s-mugs`, {
      ...init,
      headers: {
        authorization: `Bearer ${key?.app_id}:${readFileSync(secretFile, "utf8").trim()}`,
        "content-type": "application/json",
        origin: "https://shop.example.com",
      },
    });
  const product = ["--title", "Enamel mug", "--price", "12.5", "--stock", "40"];
  await json("product", "create", "-n", "ada-s-mugs", ...product);
  const listed = (await (await ask({})).json()) as { data: unknown };
  expect(listed.data).toMatchObject([{ title: "Enamel mug", currency: "CHF" }]);
  // Visitors can read the key of a site, so it must not create products.
  const refused = await ask({ method: "POST", body: JSON.stringify({ title: "Free mug", price: 0 }) });
  expect(await refused.json()).toMatchObject({ error: { code: 5300 } });
  const { code, screen: shown } = await ended;
  const screen = stripEscapes(shown);
  expect(code).toBe(0);
  expect(screen).not.toContain(password);
  expect(screen).toContain(`Bodega `);
  expect(screen).toContain('product create -n ada-s-mugs --title "Enamel mug" --price 12.5 --stock 40');
  expect(screen).toContain("bodega init -n ada-s-mugs --smtp-url-file <file> --mail-from <address> --data-dir ");
  expect(screen).toContain("bodega init -n ada-s-mugs --replicate-to <dir|s3://bucket/prefix> --data-dir ");
  expect(statSync(join(dataDir, "bodega.env")).mode & 0o777).toBe(0o600);
  expect(parseEnv(readFileSync(join(dataDir, "bodega.env"), "utf8"))).toEqual({ BODEGA_PORT: port });
}, 20_000);

describe("ctrl-C at a prompt of init ends with exit code 130, and nothing is created", () => {
  test.each<[string, Steps]>([
    ["at the second password", [...storeSteps, ...ownerSteps.slice(0, -1), ["Repeat the password", ctrlC]]],
    ["at the last question", [...storeSteps, ...ownerSteps, ...keySteps.slice(0, -1), ["Publish the key now?", ctrlC]]],
  ])("%s", async (_when, steps) => {
    const { atTerminal, isUntouched } = openNew();
    const secrets = makeDir();
    const files = ["--save-secret-to", join(secrets, "web.secret"), "--replicate-to", join(secrets, "replica")];
    const { code } = await atTerminal(steps, "--no-serve", ...files);
    expect([code, isUntouched(), readdirSync(secrets)]).toEqual([130, true, []]);
  });
});

test("a prompt refuses an invalid answer, and asks again", async () => {
  const { atTerminal, init, json } = openNew();
  const again = (text: string) => `${eraseLine}${text}\r`;
  const steps: Steps = [
    ["Name of the store", " \r"],
    ["A value is required", again("Mugs")],
    ["Namespace (name of the store", again("Mugs & more")],
    ["lowercase letters", again("mugs")],
    ["Currency of prices", again("euro")],
    ["Must be an ISO 4217 currency code", again("eur")],
    ["Default language", again("english please")],
    ["Must be the code of a known language", again("de")],
    ["Country of the store", "Germany\r"],
    ["Must be a two-letter country code", again("de")],
    ["Owner email", "ada\r"],
    ["Must be an email address", again("ada@example.com")],
    ["Owner name", "\r"],
    ["New password", "weak\r"],
    ["Needs at least 16 characters", `${password}\r`],
    ["Repeat the password", `${password}!\r`],
    ["passwords differ", `${password}\r`],
    ["Repeat the password", `${password}\r`],
    ["Sites whose pages may use the key", "https://a.example.com/path\r"],
    ["is not a host", again("")],
    ["(backend)", "\r"],
    ["Publish the key now?", "n\r"],
  ];
  const file = join(makeDir(), "mugs.secret");
  const { code, screen } = await atTerminal(steps, "--no-serve", "--save-secret-to", file);
  expect(code).toBe(0);
  expect(screen).toContain("bodega key publish app_");
  expect(screen).toContain(`App secret  in ${file}\n`);
  const secret = readFileSync(file, "utf8").trim();
  expect([secret, statSync(file).mode & 0o777]).toEqual([expect.stringMatching(/^sk_[\w-]{43}$/), 0o600]);
  expect(screen).not.toContain(secret);
  expect(await json("tenant", "show", "mugs")).toMatchObject({
    title: "Mugs",
    currency: "EUR",
    language: "de",
    country: "DE",
  });
  const { key, owner, made } = await init("-n", "mugs");
  expect([key?.name, key?.published, key?.origins, key?.allow_no_origin]).toEqual(["backend", false, [], true]);
  expect([owner?.email, owner?.role, made]).toEqual(["ada@example.com", "owner", []]);
});

test("if no password is typed, init generates one and shows it", async () => {
  const { atTerminal, json } = openNew();
  const steps: Steps = [
    ["Name of the store", "Ada's Mugs\r"],
    ["Namespace (name of the store", `${eraseLine}mugs\r`],
    ["Currency of prices", "chf\r"],
    ["Default language", "de\r"],
    ["Country of the store", "ch\r"],
    ["Owner email", "eve@example.com\r"],
    ["Owner name", "Eve\r"],
    ["New password", "\r"],
    ["Sites whose pages may use the key", "shop.example.com, *.example.org\r"],
    ["(storefront)", "web\r"],
    ["Publish the key now?", "n\r"],
  ];
  const { code, screen } = await atTerminal(steps, "--no-serve", "--save-secret-to", join(makeDir(), "web.secret"));
  expect(screen).toMatch(/\nPassword +(?:\w{5}-){4}\w{5}\n/);
  expect(code).toBe(0);
  expect(await json<object[]>("user", "list", "-n", "mugs")).toMatchObject([{ email: "eve@example.com" }]);
  const key = { name: "web", published: false, origins: ["*.example.org", "shop.example.com"] };
  expect(await json<object[]>("key", "list", "-n", "mugs")).toMatchObject([key]);
}, 20_000);

test.each([
  ["Größe & Öfen", "groesse-oefen"],
  ["Müller", "mueller"],
  ["Ærø Łódź", "aero-lodz"],
  ["Ada's Mugs", "ada-s-mugs"],
  ["店 7", "7"],
])("the store's name %j suggests the namespace %s", (title, namespace) => {
  expect(suggestNamespace(title)).toBe(namespace);
});

test("a secret that is printed on the screen is printed only once", async () => {
  const { atTerminal } = openNew();
  const { code, screen } = await atTerminal([], ...answered.split(" "));
  expect(code).toBe(0);
  const secret = /App secret +(sk_[\w-]{43})\n/.exec(screen)?.[1] as string;
  expect(screen.split(secret)).toHaveLength(2);
});

test("init with flags creates the same shop as with prompts, and --json prints every result in one value", async () => {
  const { here, dataDir } = openNew();
  const smtpUrl = "smtps://ada%40shop:p'a%3Ass@mail.example.com";
  const smtpFile = writeSmtpUrl(smtpUrl);
  const flags = ["--currency", "chf", "--language", "pt-br", "--owner-name", "Ada", "--key-name", "shop", "--publish"];
  const mail = ["--smtp-url-file", smtpFile, "--mail-from", "Ada's <shop@example.com>"];
  const origins = ["--origin", "shop.example.com", "--origin", "*.example.org"];
  const { code, stdout, stderr } = await here(["init", ...unattended, ...flags, ...mail, ...origins, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const reply = JSON.parse(stdout) as InitReply;
  expect(reply.store).toMatchObject({ namespace: "ada-s-mugs", currency: "CHF", language: "pt-BR" });
  expect(reply.owner).toMatchObject({ email: "ada@example.com", name: "Ada", role: "owner" });
  expect(String(reply.owner?.password)).toMatch(/^(?:\w{5}-){4}\w{5}$/);
  expect(reply.key).toMatchObject({ name: "shop", published: true, origins: ["*.example.org", "shop.example.com"] });
  expect(String(reply.key?.app_secret)).toMatch(/^sk_[\w-]{43}$/);
  expect(reply.mail).toEqual({ host: "mail.example.com", from: "Ada's <shop@example.com>" });
  expect([reply.made, reply.kept]).toEqual([["store", "owner", "key"], []]);
  const settings = readFileSync(join(dataDir, "bodega.env"), "utf8");
  expect(parseEnv(settings).BODEGA_MAIL_FROM).toBe("Ada's <shop@example.com>");
  expect(parseEnv(settings).BODEGA_SMTP_URL).toBe(smtpUrl.replace("'", "%27"));
  expect(stdout).not.toContain(new URL(smtpUrl).password);
});

test("init -q prints ids, and secrets that are not saved to a file", async () => {
  const { here } = openNew();
  const { stdout } = await here(["init", ...unattended, "-q"]);
  expect(stdout).toMatch(/^app_\w{26}:sk_[\w-]{43}\nusr_\w{26}:(?:\w{5}-){4}\w{5}\n$/);
  expect((await here(["init", ...unattended, "-q"])).stdout).toMatch(/^app_\w{26}\n$/);
});

test("the mail server of a flag takes precedence over that of the environment", async () => {
  const { here, dataDir } = openNew();
  const smtpFile = writeSmtpUrl("smtp://mail.invalid");
  const env = { BODEGA_SMTP_URL: "smtp://other.invalid", BODEGA_MAIL_FROM: "shop@example.com" };
  const flags = ["-n", "mugs", "--no-owner", "--smtp-url-file", smtpFile];
  expect(await here(["init", ...flags], env)).toMatchObject({ code: 0 });
  expect(parseEnv(readFileSync(join(dataDir, "bodega.env"), "utf8")).BODEGA_SMTP_URL).toBe("smtp://mail.invalid");
});

test("without a terminal, init names all missing flags at once, and creates nothing", async () => {
  const { failure, here, isUntouched } = openNew();
  const { code, error } = await failure("init");
  const flags = ["--title", "--owner-email", "--password-stdin"];
  expect([code, error.details?.map(({ field }) => field)]).toEqual([2, flags]);
  expect(await here(["init", "--no-input", "--title", "店"])).toMatchObject({ code: 2 });
  expect((await failure("init", "--title", "店", "--no-owner")).error).toMatchObject({
    message: "Missing --namespace.",
    remedy: "No namespace can be made from --title: it has no letter a-z and no digit.",
  });
  expect(isUntouched()).toBe(true);
});

test.each([
  [[], null, "yes"],
  [["--country", "US"], "US", "no"],
  [["--country", "us", "--prices-include-tax", "yes"], "US", "yes"],
] as const)("with %j the country is %j, and prices include tax: %s", async (flags, country, prices_include_tax) => {
  const { store } = await openNew().init("--title", "Mugs", "--no-owner", ...flags);
  expect(store).toMatchObject({ country, prices_include_tax });
});

describe("an invalid flag ends init with exit code 2, and nothing is created", () => {
  test.each<[string, string[], string]>([
    ["namespace", ["-n", "No Name"], "--namespace must be 1 to 63"],
    ["country", ["--country", "Germany"], "--country must be a two-letter country code"],
    ["origin", ["--origin", "https://a/b"], "--origin "],
    ["key's name", ["--key-name", " "], "--key-name must not be blank"],
    ["two ways to run", ["--serve", "--print-unit"], "--print-unit and --serve cannot be used together."],
    ["port", ["--port", "http"], "--port must be a whole number"],
    ["sender", ["--mail-from", "shop"], "--mail-from must be an address, such as shop@example.com"],
    ["missing sender", ["--smtp-url-file", "nowhere"], "--mail-from is required with --smtp-url-file"],
    ["url", ["--smtp-url-file", import.meta.path, "--mail-from", "a@b.example"], "--smtp-url-file must be one line"],
  ])("%s", async (_what, flags, message) => {
    const { failure, isUntouched } = openNew();
    const { code, error } = await failure("init", ...unattended, ...flags);
    expect([code, error.message.slice(0, message.length), isUntouched()]).toEqual([2, message, true]);
  });

  test("init refuses a weak password in a file, and creates nothing", async () => {
    const { failure, isUntouched } = openNew();
    const file = join(makeDir(), "password");
    writeFileSync(file, "sesame\n");
    const flags = ["--title", "Mugs", "--owner-email", "ada@example.com", "--password-file", file];
    const { code, error } = await failure("init", ...flags);
    expect([code, isUntouched()]).toEqual([2, true]);
    expect(error.message).toStartWith("--password-file needs at least 16 characters");
  });

  test("init refuses to replace an existing file with a secret, and creates nothing", async () => {
    const { failure, isUntouched } = openNew();
    const secrets = makeDir();
    writeFileSync(join(secrets, "old"), "kept");
    const files = ["--save-secret-to", join(secrets, "new"), "--save-password-to", join(secrets, "old")];
    expect((await failure("init", ...unattended, ...files)).code).toBe(4);
    expect([readdirSync(secrets), isUntouched()]).toEqual([["old"], true]);
  });
});

test("a second init changes nothing that exists, and names what it keeps", async () => {
  const { init, json, here, dataDir } = openNew();
  const secrets = makeDir();
  const first = await init(
    // If a file for the password is named, a password is generated.
    ...unattended.filter((flag) => flag !== "--random-password"),
    "--save-secret-to",
    join(secrets, "web"),
    "--save-password-to",
    join(secrets, "ada"),
    "--port",
    "8099",
  );
  expect(first.key?.secret_file).toBe(join(secrets, "web"));
  expect(JSON.stringify(first)).not.toContain(readFileSync(join(secrets, "web"), "utf8").trim());
  expect(JSON.stringify(first)).not.toContain(readFileSync(join(secrets, "ada"), "utf8").trim());
  const before = await json("tenant", "show", "ada-s-mugs");
  const again = await init(...unattended, "--save-secret-to", join(secrets, "web"), "--port", "8099");
  expect([again.made, again.key?.app_id, again.settings]).toEqual([[], first.key?.app_id, []]);
  expect(again.kept).toEqual([
    expect.stringMatching(/^Store ada-s-mugs exists and stays as it is; to change it: .* tenant update ada-s-mugs -h/),
    expect.stringMatching(/^Owner ada@example.com exists/),
    expect.stringMatching(/^Key backend exists/),
  ]);
  expect("app_secret" in (again.key ?? {})).toBe(false);
  const line = "init --currency usd --owner-email eve@example.com --random-password --publish --port 8100";
  const { code, stderr } = await here(line.split(" "));
  expect(code).toBe(0);
  for (const word of ["Store", "Owner", "Key", "BODEGA_PORT stays"]) expect(stderr).toContain(`kept: ${word}`);
  expect(await json("tenant", "show", "ada-s-mugs")).toEqual(before);
  expect(await json<unknown[]>("user", "list", "-n", "ada-s-mugs")).toHaveLength(1);
  expect(await json<unknown[]>("key", "list", "-n", "ada-s-mugs")).toHaveLength(1);
  expect(parseEnv(readFileSync(join(dataDir, "bodega.env"), "utf8"))).toEqual({ BODEGA_PORT: "8099" });
});

test("a second init creates missing parts, and asks only about them", async () => {
  const { init, json, atTerminal } = openNew();
  await json("tenant", "create", "mugs");
  await json("key", "issue", "-n", "mugs", "--name", "web");
  const { code, screen } = await atTerminal(ownerSteps, "--no-serve");
  expect([code, screen.includes("Database found in")]).toEqual([0, true]);
  expect((await init()).made).toEqual([]);
  expect(await json<unknown[]>("key", "list", "-n", "mugs")).toHaveLength(1);
});

test("two concurrent inits create one shop", async () => {
  const { json, dataDir } = openNew();
  await json("db", "migrate");
  const apart = openCli(dataDir);
  const replies = await Promise.all([1, 2].map(() => apart.json<InitReply>("init", ...unattended)));
  expect(replies.map(({ made }) => made.length).sort()).toEqual([0, 3]);
  expect(await json<unknown[]>("key", "list", "-n", "ada-s-mugs")).toHaveLength(1);
});

test("--print-unit prints without creating anything", async () => {
  const { here, failure, dataDir, isUntouched } = openNew();
  const printed = await here(["init", "--print-unit"], { BODEGA_PUBLIC_URL: "https://shop.example.com" });
  expect(printed.stdout).toMatch(/^(?:#.*\n)*\[Unit\]\n/);
  expect(printed.stdout).toContain(` serve --data-dir ${dataDir}\n`);
  expect(printed.stderr).toContain("will not have the variables BODEGA_PUBLIC_URL");
  const flags = ["--port", "9000", "--host", "::", "--public-url", "https://shop.example.com", "--log", "json"];
  const mail = ["--smtp-url-file", "smtp url", "--mail-from", "a@b.example"];
  const files = ["--tls-cert", "shop.crt", "--tls-key", "shop.key", ...mail];
  const more = ["--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "127.0.0.1", "--replicate-to", "s3://shops/mugs"];
  const account = { BODEGA_S3_ACCESS_KEY_ID: "id", BODEGA_S3_SECRET_ACCESS_KEY: "secret" };
  const { stdout: unit } = await here(["init", "--print-unit", ...flags, ...files, ...more], account);
  expect(unit.match(/(?<=^Environment=).*$/gm)?.toSorted()).toEqual([
    `"BODEGA_SMTP_URL_FILE=${resolve("smtp url")}"`,
    "BODEGA_HOST=::",
    "BODEGA_LOG=json",
    "BODEGA_MAIL_FROM=a@b.example",
    "BODEGA_PORT=9000",
    "BODEGA_PUBLIC_URL=https://shop.example.com",
    "BODEGA_REPLICATE_TO=s3://shops/mugs",
    `BODEGA_TLS_CERT=${resolve("shop.crt")}`,
    `BODEGA_TLS_KEY=${resolve("shop.key")}`,
    "BODEGA_TRUSTED_PROXY=10.0.0.0/8,127.0.0.1",
  ]);
  expect((await failure("init", "--title", "Mugs", "--print-unit")).error.message).toBe(
    "--print-unit and --title cannot be used together.",
  );
  expect(isUntouched()).toBe(true);
});

test("flags of init set the public URL and the certificate of the server", async () => {
  const { here, dataDir } = openNew();
  const files = makeDir();
  const [cert, key] = [join(files, "shop.crt"), join(files, "shop.key")];
  writeFileSync(cert, certificate);
  writeFileSync(key, certificateKey);
  const listener = [
    "--host",
    "0.0.0.0",
    "--public-url",
    "https://shop.example.com",
    "--tls-cert",
    cert,
    "--tls-key",
    key,
  ];
  const { code, stdout } = await here(["init", ...unattended, ...listener]);
  expect(code).toBe(0);
  expect(stdout).toContain("Address     https://127.0.0.1:8080 and all other addresses of this machine");
  expect(parseEnv(readFileSync(join(dataDir, "bodega.env"), "utf8"))).toEqual({
    BODEGA_HOST: "0.0.0.0",
    BODEGA_PUBLIC_URL: "https://shop.example.com",
    BODEGA_TLS_CERT: cert,
    BODEGA_TLS_KEY: key,
  });
});

test("a later init adds a replica to the settings and the unit", async () => {
  const { init, here, dataDir } = openNew();
  const place = join(makeDir(), "replica");
  await init(...unattended);
  const { code, stdout } = await here(["init", "--replicate-to", place]);
  expect([code, stdout]).toEqual([0, expect.stringContaining(`Replica    ${place}\n`)]);
  expect(stdout).not.toContain("--replicate-to");
  expect(parseEnv(readFileSync(join(dataDir, "bodega.env"), "utf8"))).toEqual({ BODEGA_REPLICATE_TO: place });
  expect(readdirSync(place)).toEqual([]);
  const { stdout: unit } = await here(["init", "--print-unit"]);
  expect(unit).toContain(`\nReadWritePaths=-${place}\n`);
  // A second init does not change the saved replica.
  expect(await here(["init", "--replicate-to", join(makeDir(), "other")])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Replica    ${place}\n`),
    stderr: expect.stringMatching(/BODEGA_REPLICATE_TO stays as it is in .*bodega.env; to change it, edit that file/),
  });
});

test("init with port 0 uses it only for the server that it starts, and does not save it", async () => {
  const { init, dataDir } = openNew();
  const { url, settings } = await init(...unattended, "--port", "0", "--log", "json");
  expect([url, settings]).toEqual(["http://127.0.0.1:8080", ["BODEGA_LOG"]]);
  expect(parseEnv(readFileSync(join(dataDir, "bodega.env"), "utf8"))).toEqual({ BODEGA_LOG: "json" });
});

test("init refuses a replica in the data directory, or in a place that cannot be written, before it writes anything", async () => {
  const { failure, dataDir, isUntouched } = openNew();
  const file = join(makeDir(), "file");
  writeFileSync(file, "");
  const { code, error } = await failure("init", ...unattended, "--replicate-to", file);
  expect({ code, message: error.message }).toMatchObject({ code: 4, message: expect.stringContaining(file) });
  const refuse = async (place: string) => (await failure("init", ...unattended, "--replicate-to", place)).error.message;
  expect(await refuse("s3://shops/mugs")).toContain("BODEGA_S3");
  expect(await refuse(join(dataDir, "replica"))).toContain("must be outside the data directory");
  expect(isUntouched()).toBe(true);
});

test("init refuses an unusable certificate or key before it writes anything", async () => {
  const { failure, isUntouched } = openNew();
  const cert = join(makeDir(), "shop.crt");
  writeFileSync(cert, certificate);
  const { code, error } = await failure("init", ...unattended, "--tls-cert", cert, "--tls-key", cert);
  expect([code, error]).toEqual([
    2,
    expect.objectContaining({
      message: `${cert} contains no PEM private key (-----BEGIN PRIVATE KEY-----).`,
      remedy: expect.stringContaining("--tls-key"),
    }),
  ]);
  expect(isUntouched()).toBe(true);
});
