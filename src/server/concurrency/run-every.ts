/**
 * Runs `work` every `ms` milliseconds and when `run` is called, but never twice at once. `stop` waits for a running
 * `work`, which can call its argument to learn that it should end.
 */
export function runEvery(
  ms: number,
  work: (isStopping: () => boolean) => Promise<unknown>,
  onError?: (error: unknown) => void,
) {
  let running: Promise<unknown> | undefined;
  let isStopping = false;
  const run = () => {
    running ??= work(() => isStopping)
      .catch(onError)
      .finally(() => (running = undefined));
    return running;
  };
  const timer = setInterval(run, ms);
  timer.unref();
  return {
    run,
    async stop(): Promise<void> {
      isStopping = true;
      clearInterval(timer);
      await running;
    },
  };
}
