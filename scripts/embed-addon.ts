import { existsSync, readFileSync } from "node:fs";
import type { BunPlugin } from "bun";

/**
 * A build plugin that embeds one libSQL add-on. `libsql` computes the name of its add-on at run time, so a bundler does
 * not embed it: the build would succeed, and the executable would fail on machines without node_modules.
 * Throws if the add-on is missing, or if the source of `libsql` has changed.
 */
export function embedAddon(addonPath: string): BunPlugin {
  if (!existsSync(addonPath)) throw new Error(`The libSQL add-on is missing: ${addonPath}`);
  let embedded = 0;
  return {
    name: "embed-libsql-addon",
    setup(build) {
      build.onLoad({ filter: /[\\/]node_modules[\\/]libsql[\\/](index|promise)\.js$/ }, ({ path }) => {
        const source = readFileSync(path, "utf8");
        const loader = /function requireNative\(\) \{[\s\S]*?\n\}\n/;
        const detectors = /^const \{[^}]*\} = require\("(@neon-rs\/load|detect-libc)"\);\n/gm;
        if (!loader.test(source)) throw new Error(`No add-on loader found in ${path}: has libsql changed?`);
        embedded += 1;
        const contents = source
          .replace(detectors, "")
          .replace(loader, () => `function requireNative() { return require(${JSON.stringify(addonPath)}); }\n`);
        return { contents, loader: "js" };
      });
      build.onEnd(() => {
        if (embedded === 0) throw new Error("libsql is not part of the bundle, so no add-on was embedded.");
      });
    },
  };
}
