// Runs before the program in a process under test, brought in by `BUN_OPTIONS`: the time is what the test has written
// into a file that both have in memory. The program itself knows nothing of it.
const bytes = Bun.mmap(process.env.FAKE_CLOCK_FILE ?? "");
const time = new Float64Array(bytes.buffer, bytes.byteOffset, 1);
const now = (): number => time[0] as number;

const RealDate = Date;
RealDate.now = now;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  apply: () => new RealDate(now()).toString(),
});
