import type { WorkerRegistry } from "../monitoring/worker-registry.ts";
import type { Sockets } from "./exchange-certificate.ts";

/** A worker that hangs does not hold up the others for longer; it takes the same steps in the same order later. */
const timeoutMs = 2000;

/** The sockets of all workers, as their parent has them take steps. */
export function workerSockets(registry: WorkerRegistry): Sockets {
  return {
    count: () => registry.size,
    async step(step) {
      const answers = await registry.askAll({ kind: "step", step }, timeoutMs);
      const failure = answers.find((answer) => typeof answer === "string");
      if (failure !== undefined) throw new Error(`A worker: ${failure}`);
      return answers.length > 0 && answers.every((answer) => answer === true);
    },
  };
}
