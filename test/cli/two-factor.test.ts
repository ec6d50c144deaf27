import { beforeEach, expect, test } from "bun:test";
import { decodeQR } from "qr/decode.js";
import { codeAt } from "../support/totp.ts";
import { openCli, runAtTerminal, stripEscapes } from "./run-bodega.ts";

const ctrlC = "\u0003";
const ada = ["-n", "demo", "ada@example.com"];
const twoFactor = ["user", "two-factor", ...ada];

let cli: ReturnType<typeof openCli>;

beforeEach(async () => {
  cli = openCli();
  await cli.json("tenant", "create", "demo");
  await cli.json("user", "create", "-n", "demo", "--email", "ada@example.com", "--no-password");
});

const isOn = async () => (await cli.json<{ two_factor_enabled: boolean }>("user", "show", ...ada)).two_factor_enabled;

/** Decodes the QR code that half blocks draw on a screen. */
function readQrCode(screen: string): string {
  const lines = screen.split("\n").filter((line) => /^[ ▄▀█]{20,}$/.test(line));
  const rows = lines.flatMap((line) => [" ▄", " ▀"].map((dark) => [...line].map((block) => dark.includes(block))));
  const scale = 4;
  const size = { width: (rows[0]?.length ?? 0) * scale, height: rows.length * scale };
  const data = Uint8ClampedArray.from({ length: size.width * size.height * 4 }, (_, index) => {
    const [x, y] = [Math.floor(index / 4) % size.width, Math.floor(index / 4 / size.width)];
    return index % 4 < 3 && rows[Math.floor(y / scale)]?.[Math.floor(x / scale)] ? 0 : 255;
  });
  return decodeQR({ ...size, data });
}

test("a terminal of 80 columns and 24 lines shows the QR code and the key; after a wrong code, the prompt asks again", async () => {
  const steps: [string, string][] = [
    ["Code that the authenticator shows", "00000\r"],
    ["Must be six digits.", "0\r"],
    ["Is not the current code of the authenticator.", ctrlC],
  ];
  const wrapper = ["sh", "-c", '"$0" "$@" > answer; code=$?; test -s answer && echo "written to a pipe"; exit $code'];
  const env = cli.environment();
  const { code, screen } = await runAtTerminal(twoFactor, steps, { env, columns: 80, wrapper });
  const text = stripEscapes(screen);
  const key = /scan this or type ((?:[A-Z2-7]{4} ?){8})\n/.exec(text)?.[1]?.replaceAll(" ", "") as string;
  const uri = new URL(readQrCode(text));
  expect([uri.protocol, uri.pathname, uri.searchParams.get("secret")]).toEqual([
    "otpauth:",
    expect.stringContaining("demo:ada%40example.com"),
    key,
  ]);
  const lines = text.slice(0, text.indexOf("?")).split("\n");
  expect([Math.max(...lines.map((line) => Bun.stringWidth(line))) <= 80, lines.length <= 25]).toEqual([true, true]);
  expect([code, text.includes("written to a pipe"), await isOn()]).toEqual([130, false, false]);
  const confirmed = await cli.json<object>(...twoFactor, "--code", await codeAt(key, Date.now()));
  expect(confirmed).toMatchObject({ email: "ada@example.com", recovery_codes: { length: 10 } });
  expect(await isOn()).toBe(true);
});

test("without a terminal, only a flag prints the secret, and a second call confirms it with a code", async () => {
  expect((await cli.failure(...twoFactor)).error.message).toBe(
    "--print-secret or --code is required without a terminal.",
  );
  expect((await cli.failure(...twoFactor, "--code", "123456")).error).toMatchObject({ code: 5306 });
  const { secret } = await cli.json<{ secret: string }>(...twoFactor, "--print-secret");
  const { code, error } = await cli.failure(...twoFactor, "--code", "1234567");
  expect([code, error.message]).toEqual([2, "--code is not the current code of the authenticator."]);
  const enabled = await cli.run([...twoFactor, "--code", await codeAt(secret, Date.now())]);
  expect(enabled.stderr).toBe(
    "Enabled two-factor sign-in of user ada@example.com.\nwarning: Save the recovery codes now. They won't be shown again.\n",
  );
  expect(enabled.stdout.match(/\b[0-9a-z]{5}-[0-9a-z]{5}\b/g)).toHaveLength(10);
  expect((await cli.failure(...twoFactor, "--print-secret")).error).toMatchObject({ code: 5306 });
  const [entry] = await cli.json<{ event: string; actor_kind: string }[]>("audit", "list", "--limit", "1");
  expect(entry).toMatchObject({ event: "two_factor.enabled", actor_kind: "terminal" });
});
