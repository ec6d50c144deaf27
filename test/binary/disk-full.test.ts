import { expect, test } from "bun:test";
import { closeSync, copyFileSync, openSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openShop, useBinaries } from "../support/binary.ts";
import { until } from "../support/until.ts";
import { call } from "./calls.ts";
import { inspectDatabase } from "./load.ts";
import { ownMounts } from "./mounts.ts";

const { installBinary, makeDir } = useBinaries();

const path = "/products/?namespace=demo";
if (!ownMounts) console.warn("disk-full.test.ts is skipped: this account may not mount a file system of its own.");

test.skipIf(!ownMounts)(
  "on a full disk, writes get 5001 and reads work; with free space, writes work again",
  async () => {
    const binary = installBinary();
    const { auth: authorization } = await openShop(binary);
    const script =
      "mkdir small && mount -t tmpfs -o size=16m none small && cp bodega-data/* small/ && " +
      "exec ./bodega serve --port 0 --data-dir small";
    const server = await binary.serveBy([...(ownMounts ?? []), "sh", "-c", script]);
    const small = join("/proc", String(server.pid), "root", binary.dir, "small");
    const connection = server.connect();
    const headers = { authorization };
    const create = (title: string) => call(connection, { path, headers, body: { title, price: 1 } });
    const reserveBytes = () => statSync(join(small, "bodega.db-reserve"), { throwIfNoEntry: false })?.size ?? 0;
    const created: string[] = [];
    const add = async (title: string) => {
      const { status, body } = await create(title);
      expect(status).toBe(201);
      created.push((body.data as { id: string }).id);
    };
    // These products are in the WAL. The database file grows when the WAL is emptied.
    for (let number = 0; number < 50; number++) await add(`Product ${number}`);

    for (let round = 0; round < 2; round++) {
      // A write can succeed in the space of the freed reserve, so the loop counts refusals.
      let refusals = 0;
      while (refusals < 5) {
        fillDisk(join(small, "filler"));
        const reply = await create("Too much");
        if (reply.status === 201) created.push((reply.body.data as { id: string }).id);
        else {
          refusals++;
          expect(reply).toMatchObject({ status: 503, code: 5001 });
          expect(reply.headers.get("retry-after")).toMatch(/^\d+$/);
        }
        expect(await call(connection, { path, headers })).toMatchObject({ status: 200 });
      }
      const wrong = { authorization: `${authorization.slice(0, -1)}!` };
      expect((await call(connection, { path, headers: wrong })).code).toBeOneOf([5001, 5203]);

      // Other writes may use the freed space first, so more than one attempt may be needed.
      await until("the reserve is given up", () => server.log().includes("reserved space was freed to empty the WAL"));
      rmSync(join(small, "filler"));
      await add("Enough room");
    }

    const { body } = await call(connection, { path: `${path}&limit=100`, headers });
    expect((body.data as { id: string }[]).map(({ id }) => id).toSorted()).toEqual(created);
    // No process writes at this moment, so the copied files are consistent.
    const copy = makeDir();
    for (const name of ["bodega.db", "bodega.db-wal"]) copyFileSync(join(small, name), join(copy, name));
    const { integrity, products } = await inspectDatabase(copy);
    expect(integrity).toBe("ok");
    expect([...products].toSorted()).toEqual(created);
    await until("the reserve is made again", () => reserveBytes() > 1_000_000);
    expect(await server.end()).toBe(0);
  },
  30_000,
);

test.skipIf(!ownMounts)(
  "a server that was killed on a full disk starts again and can read; with free space, it can write",
  async () => {
    const binary = installBinary();
    const { auth: authorization } = await openShop(binary);
    const script =
      "mkdir small && mount -t tmpfs -o size=16m none small && cp bodega-data/* small/ && " +
      "{ ./bodega serve --port 0 --data-dir small > first & } && until grep -q listens first; do sleep 0.1; done; " +
      "until test -s small/bodega.db-reserve; do sleep 0.1; done; kill -9 $!; wait; cat /dev/zero > small/filler; " +
      "exec ./bodega serve --port 0 --data-dir small";
    const server = await binary.serveBy([...(ownMounts ?? []), "sh", "-c", script]);
    const filler = join("/proc", String(server.pid), "root", binary.dir, "small", "filler");
    const headers = { authorization };
    const connection = server.connect();
    const create = () => call(connection, { path, headers, body: { title: "Lamp", price: 1 } });
    expect(await call(connection, { path, headers })).toMatchObject({ status: 200, body: { data: [] } });
    await until("a write to be refused", async () => {
      fillDisk(filler);
      return (await create()).code === 5001;
    });
    rmSync(filler);
    expect(await create()).toMatchObject({ status: 201 });
    expect(await server.end()).toBe(0);
  },
  30_000,
);

test.skipIf(!ownMounts)(
  "a failed upgrade leaves no files; on a full disk, the error asks for space, and on a read-only disk for another mount",
  async () => {
    const binary = installBinary();
    await openShop(binary);
    const hash = new Bun.CryptoHasher("sha256").update(await Bun.file(binary.path).bytes()).digest("hex");
    const size = statSync(binary.path).size + 8_000_000;
    const flags = "./bodega --yes --data-dir bodega-data";
    writeFileSync(join(binary.dir, "SHA256SUMS"), `${hash}  bodega\n`);
    const script =
      `mkdir small && mount -t tmpfs -o size=${size} none small && cp bodega small/ && ./small/bodega upgrade ${flags}; ` +
      `echo; ls small; mount -o remount,ro small && ./small/bodega upgrade ${flags}`;
    const child = Bun.spawn([...(ownMounts ?? []), "sh", "-c", `${script} 2>&1`], {
      ...{ cwd: binary.dir, env: { ...process.env, ...binary.env }, stdio: ["ignore", "pipe", "pipe"] },
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect(stderr).toContain("the disk is full");
    expect(stderr).toContain("Free space");
    expect(stdout.trim().split("\n")[0]).toBe("bodega");
    expect(stdout).toContain("the disk is mounted read-only");
  },
  60_000,
);

/** Writes a file until the disk is full. */
function fillDisk(path: string): void {
  const file = openSync(path, "a");
  try {
    for (const size of [65_536, 4096]) {
      try {
        for (;;) writeSync(file, Buffer.alloc(size));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      }
    }
  } finally {
    closeSync(file);
  }
}
