import { afterAll, expect, test } from "bun:test";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderUnit, stateDirectoryOf, type UnitOptions } from "../../src/server/admin/systemd-unit.ts";
import type { AppError } from "../../src/server/errors.ts";
import { failureOf } from "../support/failure.ts";

const base = mkdtempSync(join(tmpdir(), "bodega-unit-"));
const analyze = Bun.which("systemd-analyze");
const usual: UnitOptions = {
  command: ["/usr/bin/env"],
  dataDir: "/var/lib/bodega",
  account: { kind: "dynamic" },
  port: 8080,
};

afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Returns the warnings of systemd about a unit. Empty without warnings, or without systemd. */
function askSystemd(unit: string): string {
  if (analyze === null) return "";
  const path = join(base, "bodega.service");
  writeFileSync(path, unit);
  const { exitCode, stderr } = Bun.spawnSync([analyze, "verify", path], { stdin: "ignore", stdout: "ignore" });
  return exitCode === 0 ? "" : `${exitCode}: ${stderr.toString()}`;
}

const linesOf = (unit: string, name: string) => unit.split("\n").filter((line) => line.startsWith(`${name}=`));

test("for a data directory below /var/lib, the unit has its own account with minimal permissions", () => {
  const unit = renderUnit(usual);
  expect(askSystemd(unit)).toBe("");
  expect(unit).toContain("\nExecStart=/usr/bin/env serve --data-dir /var/lib/bodega\n");
  for (const line of [
    ..."DynamicUser=yes StateDirectory=bodega ProtectSystem=strict ProtectHome=yes PrivateUsers=yes".split(" "),
    ..."NoNewPrivileges=yes CapabilityBoundingSet= SystemCallFilter=@system-service".split(" "),
  ]) {
    expect(unit.split("\n")).toContain(line);
  }
  // With this setting, a JIT compiler could not run.
  expect(unit).not.toContain("MemoryDenyWriteExecute");
});

test("the unit can write to the directories of replica and backups, which need not exist when the server starts", () => {
  const folders = ["/mnt/backups", "/mnt/replica"];
  const own = renderUnit({ ...usual, folders });
  expect(askSystemd(own)).toBe("");
  expect(linesOf(own, "ReadWritePaths")).toEqual(["ReadWritePaths=-/mnt/backups", "ReadWritePaths=-/mnt/replica"]);
  // The account gets its user id only at the first start.
  expect(linesOf(own, "ExecStartPre")).toContain("ExecStartPre=-+chown --reference=/var/lib/bodega /mnt/replica");
  const account = { kind: "static", user: "shop", group: "shop" } as const;
  const others = ["/home/ada/replica", "/tmp/replica"];
  const theirs = renderUnit({ ...usual, dataDir: "/srv/shop", account, folders: others });
  expect(askSystemd(theirs)).toBe("");
  expect(linesOf(theirs, "ReadWritePaths")).toEqual([
    "ReadWritePaths=/srv/shop",
    "ReadWritePaths=-/home/ada/replica",
    "ReadWritePaths=-/tmp/replica",
  ]);
  const lines = [linesOf(theirs, "ProtectHome"), linesOf(theirs, "PrivateTmp")];
  expect(lines).toEqual([["ProtectHome=read-only"], ["PrivateTmp=no"]]);
});

test("systemd rates the unit as well protected", () => {
  const path = join(base, "rated.service");
  writeFileSync(path, renderUnit(usual));
  if (analyze === null) return;
  const rating = Bun.spawnSync([analyze, "security", "--offline=true", "--threshold=20", path], { stdin: "ignore" });
  const verdict = rating.stdout.toString().trim().split("\n").at(-1);
  expect([rating.exitCode, verdict]).toEqual([0, expect.stringContaining("OK")]);
});

test("with a data directory outside /var/lib, the unit runs as the given account and may write only to that directory", () => {
  const unit = renderUnit({ ...usual, dataDir: "/srv/shop", account: { kind: "static", user: "1000", group: "1001" } });
  expect(askSystemd(unit)).toBe("");
  expect([linesOf(unit, "User"), linesOf(unit, "Group")]).toEqual([["User=1000"], ["Group=1001"]]);
  expect([linesOf(unit, "ReadWritePaths"), linesOf(unit, "DynamicUser")]).toEqual([["ReadWritePaths=/srv/shop"], []]);
});

test("the unit can use home directories, temporary directories and ports below 1024 only if it needs them", () => {
  const account = { kind: "static", user: "1000", group: "1000" } as const;
  const table: [unit: Partial<UnitOptions>, line: string][] = [
    [{ dataDir: "/home/ada/shop", account }, "ProtectHome=read-only"],
    [{ dataDir: "/homes/ada", account }, "ProtectHome=yes"],
    [{ command: ["/root/bodega"] }, "ProtectHome=read-only"],
    [{ account }, "PrivateTmp=yes"],
    [{ dataDir: "/tmpfs/shop", account }, "PrivateTmp=yes"],
    [{ dataDir: "/tmp/shop", account }, "PrivateTmp=no"],
    [{ command: ["/var/tmp/bodega"], account }, "PrivateTmp=no"],
    [{ port: 443 }, "AmbientCapabilities=CAP_NET_BIND_SERVICE"],
    [{ port: 1024 }, "AmbientCapabilities="],
    [{ port: 0 }, "AmbientCapabilities="],
  ];
  for (const [options, line] of table) {
    const name = line.split("=")[0] as string;
    expect([options, linesOf(renderUnit({ ...usual, ...options }), name)]).toEqual([options, [line]]);
  }
});

test("paths with spaces, quotes, percent and dollar signs are quoted correctly in the unit", () => {
  const folder = join(base, "my %n $HOME dir");
  const program = join(folder, "bodega");
  mkdirSync(folder);
  copyFileSync("/bin/sh", program);
  chmodSync(program, 0o755);
  const account = { kind: "static", user: "0", group: "0" } as const;
  const dataDir = '/srv/a %h "b" \\ $X';
  const unit = renderUnit({ ...usual, command: [program], dataDir, folders: ["/mnt/my replica"], account });
  expect(askSystemd(unit)).toBe("");
  const path = `${base}/my %%n $HOME dir/bodega`;
  expect(linesOf(unit, "ExecStart")).toEqual([`ExecStart="${path}" serve --data-dir "/srv/a %%h \\"b\\" \\\\ $$X"`]);
  expect(linesOf(unit, "ReadWritePaths")).toEqual([
    'ReadWritePaths="/srv/a %%h \\"b\\" \\\\ $X"',
    'ReadWritePaths="-/mnt/my replica"',
  ]);
});

test.each([
  { command: ['/opt/"q"/bodega'] },
  { command: ["/opt/a\\b/bodega"] },
  { command: ["/opt/a\nUser=root/bodega"] },
  { dataDir: "/srv/a\nUser=root" },
  { folders: ["/srv/a\nUser=root"] },
])("a path that a unit cannot contain is refused: %j", async (options) => {
  const account = { kind: "static", user: "0", group: "0" } as const;
  const error = (await failureOf(() => renderUnit({ ...usual, account, ...options }))) as AppError;
  expect(error.code).toBe(5306);
});

test("systemd manages the data directory only if it is directly below /var/lib", () => {
  const names = "/var/lib/bodega /var/lib/my-shop.1 /var/lib/a/b /var/lib/private /var/lib/ /srv/bodega".split(" ");
  expect(names.map(stateDirectoryOf)).toEqual(["bodega", "my-shop.1", undefined, undefined, undefined, undefined]);
});

test("the unit does not restart a server with a replica after exit code 4, and restarts a server without a replica", () => {
  expect(renderUnit(usual)).not.toContain("RestartPreventExitStatus");
  expect(renderUnit({ ...usual, hasReplica: true })).toContain("\nRestartPreventExitStatus=4\n");
});
