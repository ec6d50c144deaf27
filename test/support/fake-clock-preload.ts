// `BUN_OPTIONS` loads this file before an unchanged program under test. The time then comes from a memory-mapped file,
// which the test writes.
const bytes = Bun.mmap(process.env.FAKE_CLOCK_FILE ?? "");
const time = new Float64Array(bytes.buffer, bytes.byteOffset, 1);
const now = (): number => time[0] as number;

const RealDate = Date;
RealDate.now = now;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  apply: () => new RealDate(now()).toString(),
});
