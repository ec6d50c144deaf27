// The bare side of the login: password checks alone, one per core at any time. Prints checks a second: cores ÷ the time
// of a hash while every core computes one. Argument: seconds.
import { availableParallelism } from "node:os";

const parameters = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;
const password = "Vermilion-Kettle-4871";
const hash = await Bun.password.hash(password, parameters);

const started = performance.now();
const end = started + Number(process.argv[2]) * 1000;
let checked = 0;
async function checkOn(): Promise<void> {
  while (performance.now() < end) {
    await Bun.password.verify(password, hash);
    checked += 1;
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, checkOn));
console.log((checked * 1000) / (performance.now() - started));
