import { afterAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Certificate, coversHost, readCertificate } from "../../src/server/tls/certificate.ts";
import { judgeCertificate } from "../../src/server/tls/judge-certificate.ts";
import { keepCertificate } from "../../src/server/tls/keep-certificate.ts";
import { createClock } from "../support/clock.ts";
import { failureOf } from "../support/failure.ts";
import { type MadeCertificate, makeCertificate } from "../support/make-certificate.ts";

const dir = mkdtempSync(join(tmpdir(), "bodega-certificate-"));
const dayMs = 86_400_000;
const { now } = createClock();

afterAll(() => rmSync(dir, { recursive: true, force: true }));

let count = 0;

/** Files of their own for a pair, the key open to nobody else. */
function place({ cert, key }: { cert: string; key: string }) {
  count += 1;
  const files = { cert: join(dir, `${count}.crt`), key: join(dir, `${count}.key`) };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key, { mode: 0o600 });
  return files;
}

const lasting = (days: number, names?: string[]) =>
  makeCertificate({ from: now() - 30 * dayMs, until: now() + days * dayMs, ...(names && { names }) });

describe("a pair that cannot be used is refused, and the file at fault named", () => {
  const made = makeCertificate();
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const locked = privateKey.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" });
  const half = made.cert.slice(0, 300);

  test.each<[string, { cert: string; key: string }, "cert" | "key", string]>([
    ["another's key", { ...made, key: makeCertificate().key }, "key", "is not that of the first certificate"],
    ["a key with a passphrase", { ...made, key: String(locked) }, "key", "openssl pkey"],
    ["no key", { ...made, key: made.cert }, "key", "no private key"],
    ["no certificate", { ...made, cert: "hello" }, "cert", "no certificate"],
    ["a certificate that is half-written", { ...made, cert: half }, "cert", "no certificate"],
    ["a chain that is half-written", { ...made, cert: made.cert + half }, "cert", "not all of its certificates"],
  ])("%s", async (_what, pair, at, words) => {
    const files = place(pair);
    const failure = await failureOf(readCertificate(files));
    expect(failure).toMatchObject({ code: 5102 });
    expect(String(failure)).toContain(files[at]);
    expect(String(failure)).toContain(words);
  });

  test("a file that is not there", async () => {
    const files = { ...place(made), key: join(dir, "none.key") };
    expect(String(await failureOf(readCertificate(files)))).toContain(`There is no file ${files.key}`);
  });

  test("a pipe that nobody writes to, at once", async () => {
    const files = { ...place(made), key: join(dir, "pipe.key") };
    Bun.spawnSync(["mkfifo", files.key]);
    expect(String(await failureOf(readCertificate(files)))).toContain(`${files.key} is no file`);
  });
});

describe("what is served all the same is judged", () => {
  const judge = async (made: MadeCertificate, publicUrl?: string) => {
    const files = place(made);
    const faults = await judgeCertificate(await readCertificate(files), files, { now: now(), publicUrl });
    return faults.map(({ severity, message }) => `${severity}: ${message}`.replace(files.cert, "FILE"));
  };

  test("nothing is wrong with one that lasts", async () => {
    expect(await judge(lasting(14), "https://localhost:8443")).toEqual([]);
  });

  test.each([
    [-1, "error: The certificate in FILE has ended on 2030-01-14T12:00:00.000Z"],
    [0.5, "warning: The certificate in FILE ends today"],
    [1.5, "warning: The certificate in FILE ends in one day"],
    [13.9, "warning: The certificate in FILE ends in 13 days"],
  ])("one that ends in %d days", async (days, expected) => {
    expect(await judge(lasting(days))).toEqual([expect.stringContaining(expected)]);
  });

  test("one that has not begun", async () => {
    const early = makeCertificate({ from: now() + dayMs, until: now() + 90 * dayMs });
    expect(await judge(early)).toEqual([expect.stringContaining("error: The certificate in FILE begins on")]);
  });

  test("one for other names than the public address", async () => {
    const names = ["*.example.com", "192.0.2.7"];
    expect(await judge(lasting(90, names), "https://shop.example.org")).toEqual([
      "warning: The certificate in FILE is for *.example.com, 192.0.2.7, and --public-url is https://shop.example.org.",
    ]);
    expect(await judge(lasting(90, names), "https://shop.example.com/")).toEqual([]);
    expect(await judge(lasting(90, names), "http://shop.example.org")).toEqual([]);
    const certificate = await readCertificate(place(lasting(90, names)));
    expect(coversHost(certificate, "https://192.0.2.7:8443/")).toBe(true);
    expect(coversHost(certificate, "https://192.0.2.8/")).toBe(false);
  });

  test("a key that everyone can read, which can be put right", async () => {
    const files = place(lasting(90));
    chmodSync(files.key, 0o644);
    const certificate = await readCertificate(files);
    const [fault, ...others] = await judgeCertificate(certificate, files, { now: now(), publicUrl: undefined });
    expect(others).toEqual([]);
    expect(fault?.message).toContain(`${files.key} is open to every account of this machine (mode 644)`);
    await fault?.mend?.();
    expect(statSync(files.key).mode & 0o777).toBe(0o640);
    expect(await judgeCertificate(certificate, files, { now: now(), publicUrl: undefined })).toEqual([]);
  });
});

describe("a running server follows its files", () => {
  async function follow(made: MadeCertificate, files = place(made)) {
    const clock = createClock();
    const presented: Certificate[] = [];
    const notices: string[] = [];
    let refusal: Error | undefined;
    const keeper = keepCertificate(files, await readCertificate(files), {
      publicUrl: undefined,
      now: clock.now,
      notice: (level, message) => notices.push(`${level}: ${message}`),
      present: async (certificate) => {
        if (refusal) throw refusal;
        presented.push(certificate);
      },
    });
    await keeper.look();
    const refuse = (error: Error | undefined) => {
      refusal = error;
    };
    return { ...keeper, clock, files, presented, refuse, notices: () => notices.splice(0) };
  }

  test("what it presents is said at its start, and files that stay are not presented again", async () => {
    const { look, notices, presented, stop } = await follow(lasting(90));
    await look();
    expect(notices()).toEqual(["info: certificate for localhost, 127.0.0.1 until 2030-04-15T12:00:00.000Z"]);
    expect(presented).toEqual([]);
    stop();
  });

  test("a pair that comes in two steps is presented once it is whole, and what lies between is told once", async () => {
    const { files, look, notices, presented, current, stop } = await follow(lasting(90));
    notices();
    const next = lasting(120);
    writeFileSync(files.cert, next.cert);
    await look();
    await look();
    expect(presented).toEqual([]);
    expect(notices()).toEqual([expect.stringMatching(/^warn: The key in .* is not that of the first certificate/)]);
    writeFileSync(files.key, next.key);
    await look();
    expect(presented.map(({ cert }) => cert)).toEqual([next.cert]);
    expect(current().cert).toBe(next.cert);
    expect(notices()).toEqual(["info: certificate for localhost, 127.0.0.1 until 2030-05-15T12:00:00.000Z"]);
    stop();
  });

  test.each(["the files", "their folder"])("links that are exchanged are seen: %s", async (what) => {
    const base = mkdtempSync(join(dir, "links-"));
    const pairs = [lasting(90), lasting(90)] as const;
    for (const [index, pair] of pairs.entries()) {
      const folder = join(base, String(index));
      mkdirSync(folder);
      writeFileSync(join(folder, "tls.crt"), pair.cert);
      writeFileSync(join(folder, "tls.key"), pair.key, { mode: 0o600 });
    }
    const names = what === "the files" ? ["tls.crt", "tls.key"] : [""];
    const live = join(base, "live");
    if (what === "the files") mkdirSync(live);
    const lead = (to: number) => {
      for (const name of names) {
        symlinkSync(join(base, String(to), name), join(base, "next"));
        renameSync(join(base, "next"), join(live, name).replace(/\/$/, ""));
      }
    };
    lead(0);
    const { look, presented, stop } = await follow(pairs[0], {
      cert: `${live}/tls.crt`,
      key: `${live}/tls.key`,
    });
    lead(1);
    await look();
    expect(presented.map(({ cert }) => cert)).toEqual([pairs[1].cert]);
    const third = lasting(90);
    writeFileSync(join(base, "1", "tls.crt"), third.cert);
    writeFileSync(join(base, "1", "tls.key"), third.key);
    await look();
    expect(presented.at(-1)?.cert).toBe(third.cert);
    stop();
  });

  test("files that go away, one that has ended, and one that cannot be presented leave the one before", async () => {
    const { files, look, notices, presented, refuse, stop } = await follow(lasting(90));
    notices();
    rmSync(files.cert);
    await look();
    expect(notices()).toEqual([expect.stringMatching(/^warn: There is no file .* is tried again\.$/)]);
    const ended = lasting(-1);
    writeFileSync(files.cert, ended.cert);
    writeFileSync(files.key, ended.key);
    await look();
    expect(notices()).toEqual([expect.stringMatching(/^warn: The certificate in .* has ended on/)]);
    refuse(new Error("no socket left"));
    const next = lasting(100);
    writeFileSync(files.cert, next.cert);
    writeFileSync(files.key, next.key);
    await look();
    expect(notices()).toEqual([expect.stringContaining("no socket left")]);
    expect(presented).toEqual([]);
    refuse(undefined);
    await look();
    expect(presented.map(({ cert }) => cert)).toEqual([next.cert]);
    stop();
  });

  test("from two weeks before its end, it is told once a day", async () => {
    const { clock, look, notices, stop } = await follow(lasting(15));
    notices();
    const hours = async (count: number) => {
      for (let hour = 0; hour < count; hour++) {
        clock.advance(3_600_000);
        await look();
      }
      return notices().map((line) => /ends in \d+ days/.exec(line)?.[0] ?? line);
    };
    expect(await hours(23)).toEqual([]);
    expect(await hours(49)).toEqual(["ends in 13 days", "ends in 12 days"]);
    stop();
  });
});
