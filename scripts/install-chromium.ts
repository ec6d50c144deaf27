/** Runs a command without input. Returns its exit code and output. */
async function run(command: string[]) {
  const child = Bun.spawn(command, {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, output: stdout + stderr };
}

/**
 * Installs Chromium with apt-get if it is missing and this account may install packages.
 * @returns null if Chromium is installed; otherwise a text with the reason, and the command that installs it.
 */
export async function installChromium(): Promise<string | null> {
  if (Bun.which("chromium")) return null;
  const skipped = "The tests in a browser were not run, because Chromium is not installed.";
  if (!Bun.which("apt-get")) return `${skipped} Install it so that \`chromium\` is on the search path.`;
  const advice = `${skipped} Install it: sudo apt-get install chromium`;
  const isRoot = process.getuid?.() === 0;
  const maySudo = !isRoot && Bun.which("sudo") !== null && (await run(["sudo", "-n", "true"])).code === 0;
  if (!isRoot && !maySudo) return advice;
  console.log("Installing Chromium for the tests in a browser (once)…");
  const apt = [...(isRoot ? [] : ["sudo", "-n"]), "apt-get", "-q", "-y"];
  const install = () => run([...apt, "install", "--no-install-recommends", "chromium"]);
  // Before the first `apt-get update`, a machine does not know the package.
  const { code, output } = await install().then(async (first) => {
    if (first.code === 0) return first;
    await run([...apt, "update"]);
    return install();
  });
  return code === 0 ? null : `${advice}\n${output.trim().split("\n").at(-1)}`;
}
