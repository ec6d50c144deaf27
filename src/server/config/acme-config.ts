import { join } from "node:path";
import { domainToASCII } from "node:url";
import { emailKey } from "../values/email.ts";
import { integer, type Options, parseOption, parseUrl } from "./environment.ts";

const letsEncrypt = "https://acme-v02.api.letsencrypt.org/directory";
const namesHint = "must be host names, such as shop.example.com, separated by commas. IP addresses and * are refused";

export type AcmeConfig = NonNullable<ReturnType<typeof readAcmeConfig>>;

/** Reads the names for which the server obtains certificates itself, and how it does so. Undefined without names. */
export function readAcmeConfig({ dataDir, get }: Options) {
  const readEmail = (value: string) => (emailKey(value) === null ? undefined : value.trim());
  const readDirectory = (value: string) => parseUrl(value, ["https:"]) && value;
  const names = parseOption(get("BODEGA_ACME", "acme"), parseNames, namesHint);
  const email = parseOption(get("BODEGA_ACME_EMAIL", "acme-email"), readEmail, "must be a mail address");
  const directory = parseOption(get("BODEGA_ACME_DIRECTORY", "acme-directory"), readDirectory, "must be an https URL");
  const httpPort = integer(get("BODEGA_ACME_HTTP_PORT", "acme-http-port"), 1, 65_535) ?? 80;
  // Certificate chain and private key are in one file, so that one rename replaces both.
  const files = { file: join(dataDir, "acme-certificate.pem"), accountFile: join(dataDir, "acme-account.pem") };
  return names && { names, email, directory: directory ?? letsEncrypt, httpPort, dataDir, ...files };
}

function parseNames(value: string): [string, ...string[]] | undefined {
  const names = value.split(",").map((name) => domainToASCII(name.trim()));
  const areNames = names.every((name) => name.length <= 253 && /^(?:[a-z\d-]{1,63}\.)+[a-z][a-z\d-]{0,62}$/.test(name));
  return areNames ? (names as [string, ...string[]]) : undefined;
}
