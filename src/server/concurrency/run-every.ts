/** Runs work again and again, but never twice at once. `stop` ends it when `work` returns, which can ask for that. */
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
