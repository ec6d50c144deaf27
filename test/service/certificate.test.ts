import { afterAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Certificate, checkCertificate, readCertificate } from "../../src/server/tls/certificate.ts";
import { watchCertificate } from "../../src/server/tls/watch-certificate.ts";
import { createClock } from "../support/clock.ts";
import { failureOf } from "../support/failure.ts";
import { type MadeCertificate, makeCertificate } from "../support/make-certificate.ts";

const dir = mkdtempSync(join(tmpdir(), "bodega-certificate-"));
const dayMs = 86_400_000;
const { now } = createClock();

afterAll(() => rmSync(dir, { recursive: true, force: true }));

let count = 0;

/** Writes certificate and key to new files. Only the owner can read the key. */
function place({ cert, key }: { cert: string; key: string }) {
  count += 1;
  const files = { cert: join(dir, `${count}.crt`), key: join(dir, `${count}.key`) };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key, { mode: 0o600 });
  return files;
}

const lasting = (days: number, names?: string[]) =>
  makeCertificate({ from: now() - 30 * dayMs, until: now() + days * dayMs, ...(names && { names }) });

describe("an unusable certificate or key is refused, and the error names the file", () => {
  const made = makeCertificate();
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const locked = privateKey.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" });
  const half = made.cert.slice(0, 300);

  test.each<[string, { cert: string; key: string }, "cert" | "key", string]>([
    [
      "the key of another certificate",
      { ...made, key: makeCertificate().key },
      "key",
      "does not match the first certificate",
    ],
    ["a key with a passphrase", { ...made, key: String(locked) }, "key", "openssl pkey"],
    ["no key", { ...made, key: made.cert }, "key", "contains no PEM private key"],
    ["no certificate", { ...made, cert: "hello" }, "cert", "contains no PEM certificate"],
    ["a certificate that is half-written", { ...made, cert: half }, "cert", "contains no PEM certificate"],
    ["a chain that is half-written", { ...made, cert: made.cert + half }, "cert", "one of its certificates is damaged"],
  ])("%s", async (_what, pair, at, words) => {
    const files = place(pair);
    const failure = await failureOf(readCertificate(files));
    expect(failure).toMatchObject({ code: 5102 });
    expect(String(failure)).toContain(files[at]);
    expect(String(failure)).toContain(words);
  });

  test("a file that does not exist is refused", async () => {
    const files = { ...place(made), key: join(dir, "none.key") };
    expect(String(await failureOf(readCertificate(files)))).toContain(`${files.key} cannot be read (ENOENT)`);
  });
});

describe("the check of certificates that can be served", () => {
  const judge = async (made: MadeCertificate, publicUrl?: string) => {
    const files = place(made);
    const faults = await checkCertificate(await readCertificate(files), files, { now: now(), publicUrl });
    return faults.map(({ severity, message }) => `${severity}: ${message}`.replace(files.cert, "FILE"));
  };

  test("a check of the certificate reports no problem of a valid certificate", async () => {
    expect(await judge(lasting(14), "https://localhost:8443")).toEqual([]);
  });

  test.each([
    [-1, "error: The certificate in FILE expired on 2030-01-14T12:00:00.000Z"],
    [0.5, "error: The certificate in FILE expires today"],
    [1.5, "error: The certificate in FILE expires in 1 day"],
    [13.9, "error: The certificate in FILE expires in 13 days"],
  ])("a check of the certificate reports a certificate that ends in %d days", async (days, expected) => {
    expect(await judge(lasting(days))).toEqual([expect.stringContaining(expected)]);
  });

  test("a check of the certificate reports a certificate that is not yet valid", async () => {
    const early = makeCertificate({ from: now() + dayMs, until: now() + 90 * dayMs });
    expect(await judge(early)).toEqual([expect.stringContaining("error: The certificate in FILE is not valid before")]);
  });

  test("a check of the certificate reports a certificate for other names than the public URL", async () => {
    const names = ["*.example.com", "192.0.2.7"];
    expect(await judge(lasting(90, names), "https://shop.example.org")).toEqual([
      "warning: The certificate in FILE covers *.example.com, 192.0.2.7, but --public-url is https://shop.example.org.",
    ]);
    expect(await judge(lasting(90, names), "https://shop.example.com/")).toEqual([]);
    expect(await judge(lasting(90, names), "http://shop.example.org")).toEqual([]);
    expect(await judge(lasting(90, names), "https://192.0.2.7:8443/")).toEqual([]);
    expect(await judge(lasting(90, names), "https://192.0.2.8/")).toHaveLength(1);
  });

  test("a check of the certificate reports a key that everyone can read, with a command that fixes it", async () => {
    const files = place(lasting(90));
    chmodSync(files.key, 0o644);
    const certificate = await readCertificate(files);
    const [fault, ...others] = await checkCertificate(certificate, files, { now: now(), publicUrl: undefined });
    expect(others).toEqual([]);
    expect(fault?.message).toContain(`Every account of this machine can read the key in ${files.key} (mode 644)`);
    await fault?.fix?.();
    expect(statSync(files.key).mode & 0o777).toBe(0o640);
    expect(await checkCertificate(certificate, files, { now: now(), publicUrl: undefined })).toEqual([]);
  });
});

describe("a running server reloads its files", () => {
  async function follow(made: MadeCertificate) {
    const files = place(made);
    const clock = createClock();
    const presented: Certificate[] = [];
    const notices: string[] = [];
    let refusal: Error | undefined;
    const watcher = await watchCertificate(files, {
      publicUrl: undefined,
      now: clock.now,
      notice: (level, message) => notices.push(`${level}: ${message}`),
    });
    const use = (certificate: Certificate) => {
      if (refusal) throw refusal;
      presented.push(certificate);
    };
    const poll = () => watcher.poll(use);
    watcher.start(use);
    // From now on, the test calls the poll itself instead of waiting.
    watcher.stop();
    await poll();
    const refuse = (error: Error | undefined) => {
      refusal = error;
    };
    return { current: watcher.current, poll, clock, files, presented, refuse, notices: () => notices.splice(0) };
  }

  test("the certificate is logged at the start, and unchanged files are not presented again", async () => {
    const { poll, notices, presented } = await follow(lasting(90));
    await poll();
    expect(notices()).toEqual(["info: certificate for localhost, 127.0.0.1, valid until 2030-04-15T12:00:00.000Z"]);
    expect(presented).toEqual([]);
  });

  test("a certificate and key that are written one after the other are used when both match; the state in between is logged once", async () => {
    const { files, poll, notices, presented, current } = await follow(lasting(90));
    notices();
    const next = lasting(120);
    writeFileSync(files.cert, next.cert);
    await poll();
    await poll();
    expect(presented).toEqual([]);
    expect(notices()).toEqual([expect.stringMatching(/^warn: The key in .* does not match the first certificate/)]);
    writeFileSync(files.key, next.key);
    await poll();
    expect(presented.map(({ cert }) => cert)).toEqual([next.cert]);
    expect(current().cert).toBe(next.cert);
    expect(notices()).toEqual(["info: certificate for localhost, 127.0.0.1, valid until 2030-05-15T12:00:00.000Z"]);
  });

  test("the previous certificate stays in use if the files are missing, or if the new one cannot be used", async () => {
    const { files, poll, notices, presented, refuse } = await follow(lasting(90));
    notices();
    rmSync(files.cert);
    await poll();
    expect(notices()).toEqual([
      expect.stringMatching(/^warn: .* cannot be read \(ENOENT\)\. The previous certificate stays in use\.$/),
    ]);
    refuse(new Error("no socket left"));
    const next = lasting(100);
    writeFileSync(files.cert, next.cert);
    writeFileSync(files.key, next.key);
    await poll();
    expect(notices()).toEqual([expect.stringContaining("no socket left")]);
    expect(presented).toEqual([]);
    refuse(undefined);
    await poll();
    expect(presented.map(({ cert }) => cert)).toEqual([next.cert]);
  });

  test("in the last two weeks of a certificate, a warning is logged once a day", async () => {
    const { clock, poll, notices } = await follow(lasting(15));
    notices();
    const hours = async (count: number) => {
      for (let hour = 0; hour < count; hour++) {
        clock.advance(3_600_000);
        await poll();
      }
      return notices().map((line) => /expires in \d+ days/.exec(line)?.[0] ?? line);
    };
    expect(await hours(23)).toEqual([]);
    expect(await hours(49)).toEqual(["expires in 13 days", "expires in 12 days"]);
  });
});
