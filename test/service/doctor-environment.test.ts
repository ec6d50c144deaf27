import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { readConfig } from "../../src/server/config/config.ts";
import { type DoctorOptions, runDoctor } from "../../src/server/health/doctor.ts";
import { checkDirectory, checkDisk, checkFiles, describeDisk } from "../../src/server/health/environment/data-dir.ts";
import { checkClock, checkMail } from "../../src/server/health/environment/server.ts";
import type { CheckSubject } from "../../src/server/health/finding.ts";
import { checkServer } from "../../src/server/modules/mail/smtp.ts";
import { openTestDatabase } from "../support/backend.ts";
import { certificate } from "../support/certificate.ts";
import { failureOf } from "../support/failure.ts";
import { startSmtpServer } from "../support/smtp.ts";
import { onDatabase, onEachDatabase } from "../support/suite.ts";

const hour = 3_600_000;
const closers: (() => unknown)[] = [];
let dataDir: string;

beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), "bodega-doctor-"));
});
afterAll(async () => {
  await Promise.all(closers.map((close) => close()));
  rmSync(dataDir, { recursive: true, force: true });
});

const deps = {
  now: Date.now,
  env: {},
  version: "0.0.0-test",
  uid: process.getuid?.(),
  timeoutMs: 5000,
  command: (words: string) => `bodega ${words}`,
};

function about(env: Record<string, string> = {}, more: Partial<CheckSubject> = {}): CheckSubject {
  const config = readConfig({ "data-dir": dataDir }, env);
  return { ...deps, config, ctx: null, tenant: null, ...more };
}

test("doctor warns of a data directory of another account, and reports an error if it cannot write the directory, except for root", async () => {
  const { uid } = statSync(dataDir);
  expect(await Array.fromAsync(checkDirectory(about({}, { uid: uid + 1 })))).toMatchObject([
    { severity: "warning", subject: dataDir, remedy: `sudo -u '#${uid}' bodega doctor --data-dir ${dataDir}` },
  ]);
  expect(await Array.fromAsync(checkDirectory(about()))).toEqual([]);
  const closed = join(dataDir, "closed");
  mkdirSync(closed, { mode: 0o500 });
  const config = readConfig({ "data-dir": closed }, {});
  const found = await Array.fromAsync(checkDirectory(about({}, { config })));
  const expected = { severity: "error", subject: closed } as const;
  expect(found).toMatchObject(process.getuid?.() === 0 ? [] : [expected]);
  rmSync(closed, { recursive: true });
});

test("doctor warns of a file whose owner differs from the directory's owner", async () => {
  if (process.getuid?.() !== 0) return console.warn("Only root can give a file to another account.");
  const path = join(dataDir, "server.lock");
  writeFileSync(path, "", { mode: 0o600 });
  chownSync(path, 4321, 4321);
  const [found, ...others] = await Array.fromAsync(checkFiles(about()));
  expect({ found, others }).toMatchObject({ found: { subject: path, remedy: `chown 0:0 ${path}` }, others: [] });
  rmSync(path);
});

test("doctor can fix a database file that its owner cannot write, and commands name such a file", async () => {
  const path = join(dataDir, "bodega.db");
  for (const name of [path, `${path}-wal`]) {
    writeFileSync(name, "", { mode: 0o400 });
    const [found, ...others] = await Array.fromAsync(checkFiles(about()));
    expect({ found, others }).toMatchObject({
      found: { severity: "error", subject: name, remedy: `chmod 600 ${name}` },
      others: [],
    });
    // The test pretends to be another account, because root can write any file.
    const getuid = spyOn(process, "getuid").mockReturnValue(1000);
    await expect(openStoreDatabase({ dataDir }).finally(() => getuid.mockRestore())).rejects.toMatchObject({
      kind: "unavailable",
      message: `This account may not read and write ${name}.`,
      remedy: `chmod 600 ${name}`,
    });
    await found?.fix?.();
    expect(await Array.fromAsync(checkFiles(about()))).toEqual([]);
  }
  for (const name of [path, `${path}-wal`]) rmSync(name);
});

test("doctor does not check the modes of lock files and unknown files", async () => {
  for (const name of ["server.lock", "notes.txt"]) writeFileSync(join(dataDir, name), "", { mode: 0o644 });
  mkdirSync(join(dataDir, "other"), { mode: 0o755 });
  expect(await Array.fromAsync(checkFiles(about()))).toEqual([]);
  chmodSync(join(dataDir, "other"), 0o700);
});

test("doctor warns of a WAL that is much larger than after a checkpoint", async () => {
  const wal = join(dataDir, "bodega.db-wal");
  const find = async () => (await Array.fromAsync(checkDisk(about()))).filter(({ subject }) => subject === wal);
  writeFileSync(wal, "", { mode: 0o600 });
  truncateSync(wal, 60 * 1024 ** 2);
  expect(await find()).toEqual([]);
  truncateSync(wal, 70 * 1024 ** 2);
  const message = expect.stringContaining("has 70 MiB");
  expect(await find()).toEqual([expect.objectContaining({ severity: "warning", message })]);
  rmSync(wal);
});

describe("the disk", () => {
  const gibibyte = 1024 ** 3;
  const disk = { type: 0xef53, bsize: 4096 };
  const facts = { bytes: gibibyte, isContainer: false };
  const find = (stats: object, more: object = {}) =>
    Array.from(
      describeDisk(
        "/srv/shop",
        { ...disk, blocks: (100 * gibibyte) / 4096, bavail: (50 * gibibyte) / 4096, ...stats },
        { ...facts, ...more },
      ),
    ).map(({ severity, message }) => [severity, message]);
  const room = (bytes: number) => ({ bavail: bytes / 4096 });

  test("a disk that is nearly full is a warning, and a disk with less than 100 MiB of free space is an error", () => {
    expect(find({})).toEqual([]);
    // Some file systems report 0 blocks.
    expect(find({ blocks: 0, bavail: 0 })).toEqual([]);
    expect(find(room(2.9 * gibibyte))).toEqual([["warning", expect.stringContaining("2.9 GiB (2 %)")]]);
    expect(find(room(20 * gibibyte), { bytes: 10 * gibibyte })).toHaveLength(1);
    expect(find(room(99 * 1024 ** 2))[0]).toEqual(["error", expect.stringContaining("99 MiB (0 %)")]);
  });

  test("a data directory on a network disk, in memory, or in the layer of the container is a warning", () => {
    for (const [type, name] of [
      [0x6969, "NFS"],
      [0xff534d42, "CIFS"],
      [0x01021994, "tmpfs"],
    ] as const) {
      expect(find({ type })).toEqual([["warning", expect.stringContaining(name)]]);
    }
    expect(find({ type: 0x794c7630 })).toEqual([]);
    expect(find({ type: 0x794c7630 }, { isContainer: true })).toHaveLength(1);
  });
});

describe("the mail server", () => {
  const credentials = { user: "mailer@example.com", password: "p@ss:w/ord%" };

  test("doctor tests the mail server up to the login, over TLS if the server offers TLS, and sends no mail", async () => {
    for (const security of ["starttls", "tls"] as const) {
      const server = await startSmtpServer({ security, credentials });
      closers.push(server.close);
      expect(await checkServer({ url: server.url, trusted: certificate })).toBeTrue();
      expect(server.received).toEqual([]);
    }
  });

  test("if the mail server refuses the credentials, doctor reports this without the credentials", async () => {
    const server = await startSmtpServer({ credentials });
    closers.push(server.close);
    const url = server.url.replace(/p%40ss.*@/, "wrong-word@");
    expect(await failureOf(checkServer({ url }))).toMatchObject({ code: 5306 });
    const found = await Array.fromAsync(
      checkMail(about({ BODEGA_SMTP_URL: url, BODEGA_MAIL_FROM: "shop@example.com" })),
    );
    expect(found).toMatchObject([{ severity: "error", subject: `127.0.0.1:${server.port}` }]);
    expect(found[0]?.remedy).toContain("user and password");
    expect(JSON.stringify(found)).not.toContain("wrong-word");
  });

  test("a mail server that stays silent is an error after the time limit", async () => {
    const mute = createServer((socket) => socket.on("error", () => {}));
    closers.push(() => mute.close());
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", () => resolve()));
    const url = `smtp://127.0.0.1:${(mute.address() as { port: number }).port}`;
    const env = { BODEGA_SMTP_URL: url, BODEGA_MAIL_FROM: "shop@example.com" };
    const found = await Array.fromAsync(checkMail(about(env, { timeoutMs: 50 })));
    expect(found).toMatchObject([{ severity: "error" }]);
    expect(found[0]?.message).toContain("did not answer in time");
  });

  test("a mail server on another machine without TLS is a warning", async () => {
    const server = await startSmtpServer();
    closers.push(server.close);
    const env = { BODEGA_SMTP_URL: `smtp://0.0.0.0:${server.port}`, BODEGA_MAIL_FROM: "shop@example.com" };
    const [found] = await Array.fromAsync(checkMail(about(env)));
    expect(found).toMatchObject({ severity: "warning" });
    expect(found?.message).toContain("does not use TLS");
  });
});

onEachDatabase((suite) => {
  const { onFile } = suite;
  /** Opens a store whose clock shows the present time. */
  const openShop = () => {
    suite.app.clock.advance(Date.now() - suite.app.clock.now());
    return suite.shop();
  };
  const look = (more: Partial<DoctorOptions> = {}, { dataDir, url } = suite.database) =>
    runDoctor(readConfig({ "data-dir": dataDir }, url === undefined ? {} : { BODEGA_DATABASE_URL: url }), {
      deps: { ...deps, makeContext: async (db) => ({ ...suite.app.system, db, now: Date.now }) },
      ...more,
    });

  test("the checks of a running server find no errors", async () => {
    await openShop();
    const { findings, checked } = await look();
    expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(checked).toContain("search");
  });

  onFile("a check of doctor that fails is reported as an error, and the other checks run", async () => {
    const own = await openTestDatabase(suite.kind);
    closers.push(own.close);
    await own.db.execute("alter table mail_outbox rename to mail_outbox_gone");
    const { findings, checked } = await look({}, own);
    const failed = findings.filter(({ severity, group }) => severity === "error" && group === "environment");
    expect(failed.map(({ check }) => check)).toEqual(["outbox"]);
    expect(checked).toContain("webhooks");
  });
});

onDatabase("server", (suite) => {
  test("doctor compares the clock with the clock of the libSQL server", async () => {
    const env = { BODEGA_DATABASE_URL: suite.database.url as string };
    const subject = { ...about(env), ctx: suite.app.system, now: () => Date.now() - 2 * hour };
    const found = await Array.fromAsync(checkClock(subject));
    expect(found.map(({ message }) => message)).toContainEqual(expect.stringContaining("behind the database server"));
  });
});
