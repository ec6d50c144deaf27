/** Runs `work` again and again, never twice at once. `stop` waits for a running `work`, which gets `isStopping`. */
export function runEvery(ms: number, work: (isStopping: () => boolean) => Promise<unknown>, onError: () => void) {
  let running: Promise<unknown> | undefined;
  let isStopping = false;
  const timer = setInterval(() => {
    running ??= work(() => isStopping)
      .catch(onError)
      .finally(() => {
        running = undefined;
      });
  }, ms);
  return {
    async stop(): Promise<void> {
      isStopping = true;
      clearInterval(timer);
      await running;
    },
  };
}
