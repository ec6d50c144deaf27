import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { findUnknownSettings } from "../../config/environment.ts";
import { get, statement } from "../../db/statement.ts";
import { AppError } from "../../errors.ts";
import { tenants } from "../../modules/tenants/table.ts";
import { selectFingerprint } from "../../security/secret-key.ts";
import { checkCertificate, readCertificate } from "../../tls/certificate.ts";
import { attempt } from "../../values/attempt.ts";
import { type CheckSubject, type Finding, finding } from "../finding.ts";

export async function* checkSettings({ config: { dataDir }, env }: CheckSubject): AsyncGenerator<Finding> {
  for (const { subject, message } of findUnknownSettings(env, dataDir)) {
    yield finding("warning", subject, message, "Correct or remove it.");
  }
}

const minVariety = 12;

export async function* checkSecretKey({ ctx, config, command }: CheckSubject): AsyncGenerator<Finding> {
  const path = join(config.dataDir, "secret.key");
  const source = config.secret === undefined ? path : "BODEGA_SECRET";
  const key = config.secret ?? attempt(() => readFileSync(path, "utf8"))?.trim();
  try {
    // A new database accepts any key, and reading the key would create one.
    if (ctx !== null && (await get(ctx.db, selectFingerprint)) !== undefined) ctx.vault.fingerprint();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const isMissing = config.secret === undefined && !existsSync(path);
    const fault = error.kind === "wrongState" ? `${source} is not the secret key of this database.` : error.message;
    const message = `${isMissing ? `${path} is missing.` : fault} Without the right key, two-factor sign-in, queued mail, webhooks and notifications do not work.`;
    const remedy = `Put the right key back. If it is lost, stop the server and run: ${command("db rekey")}`;
    yield finding("error", source, message, remedy);
  }
  if (key !== undefined && new Set(key).size < minVariety) {
    const message = `${source} is not random: it has only ${new Set(key).size} different characters and can be guessed.`;
    const remedy = `Stop the server, create a key with "openssl rand -base64 32", and run: ${command("db rekey")}`;
    yield finding("warning", source, message, remedy);
  }
}

const { namespace, status } = tenants;
const selectStore = statement((q) =>
  q.select({ namespace }).from(tenants).where(eq(status, "active")).orderBy(namespace).limit(1),
);

export async function* checkMail({ ctx, config, command, timeoutMs }: CheckSubject): AsyncGenerator<Finding> {
  const { smtpUrl: url, dataDir } = config;
  if (url === undefined) {
    if (ctx === null) return;
    const first = await get(ctx.db, selectStore);
    const init = command(first === undefined ? "init" : `init -n ${first.namespace}`);
    const message = "No mail server is configured, so reset codes and notices are not sent.";
    const remedy = `Set BODEGA_SMTP_URL and BODEGA_MAIL_FROM, for example in ${dataDir}/bodega.env, or run: ${init}`;
    yield finding("warning", "BODEGA_SMTP_URL", message, remedy);
    return;
  }
  const { hostname, host } = new URL(url);
  // The mail client is loaded only if there is a mail server.
  const { runSmtpSession } = await import("../../modules/mail/smtp.ts");
  try {
    const timeouts = { connect: timeoutMs, greeting: timeoutMs, silence: timeoutMs };
    const { encrypted } = await runSmtpSession({ url, timeouts });
    if (encrypted || hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.")) return;
    const message = `The connection to the mail server ${host} does not use TLS: others can read reset codes on the way.`;
    const remedy = "Turn on TLS at the mail server, or use its TLS port with smtps: in BODEGA_SMTP_URL.";
    yield finding("warning", host, message, remedy);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const remedy =
      error.kind === "wrongState"
        ? "Correct user and password in BODEGA_SMTP_URL; write @ : / and % in them as %40 %3A %2F %25."
        : "Correct host and port in BODEGA_SMTP_URL, or allow outgoing connections to it. Many providers block ports 25, 465 and 587.";
    yield finding("error", host, `The mail server cannot be used: ${error.message}`, remedy);
  }
}

export async function* checkTls({ config: { tls: files, publicUrl }, now }: CheckSubject): AsyncGenerator<Finding> {
  if (files === undefined) return;
  try {
    yield* await checkCertificate(await readCertificate(files), files, { now: now(), publicUrl });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const remedy = `Write the certificate chain to ${files.cert} and its key to ${files.key}. A running server reloads them.`;
    yield finding("error", files.cert, error.message, remedy);
  }
}
