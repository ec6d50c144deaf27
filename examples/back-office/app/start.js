import { drawFrame, startFrame } from "./frame.js";
import { startRouter } from "./router.js";
import { loadWords } from "./words.js";

await loadWords();
startFrame();
drawFrame();
await startRouter();
