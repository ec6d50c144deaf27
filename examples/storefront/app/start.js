import "./account/push.js";
import { drawFrame, startFrame } from "./frame.js";
import { startRouter } from "./router.js";
import { config } from "./shop.js";
import { loadWords } from "./words.js";

const name = config.name ?? "Larder & Loom";

await loadWords();
startFrame(name);
drawFrame();
// The shop does not wait for this, because it can take long on a reload.
navigator.serviceWorker?.register("sw.js").catch(console.warn);
await startRouter(name);
