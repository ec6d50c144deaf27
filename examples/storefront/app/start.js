import { drawFrame, startFrame } from "./frame.js";
import { startRouter } from "./router.js";
import { config } from "./shop.js";
import { loadWords } from "./words.js";

const name = config.name ?? "Larder & Loom";

await loadWords();
startFrame(name);
drawFrame();
await startRouter(name);
