import "./account/push.js";
import { drawFrame, startFrame } from "./frame.js";
import { startRouter } from "./router.js";
import { config } from "./shop.js";
import { loadWords } from "./words.js";

const name = config.name ?? "Larder & Loom";

await loadWords();
startFrame(name);
drawFrame();
// Not waited for: on a reload, it may take long.
navigator.serviceWorker?.register("sw.js").catch(console.warn);
await startRouter(name);
