// Writes src/client/types.generated.ts from the API description.
import { join } from "node:path";
import { plugin } from "bun";
import typescript from "typescript-5";
import manifest from "../package.json" with { type: "json" };
import { describeApi } from "../src/server/api/description/openapi.ts";
import { routes } from "../src/server/api/routes.ts";
import { codeOf, errorKinds, meaningOf, typeOf } from "../src/server/errors.ts";

/** Returns the content of `src/client/types.generated.ts`: the types of all paths and schemas of the API. */
export async function generateClientTypes(): Promise<string> {
  // The generator needs the compiler API of TypeScript 5, which TypeScript 7 does not have.
  plugin({
    name: "typescript-5",
    setup: (build) => void build.module("typescript", () => ({ loader: "object", exports: { default: typescript } })),
  });
  const { default: openapiTS, astToString } = await import("openapi-typescript");
  const description = JSON.stringify(describeApi(routes, manifest.version), (name, value) => {
    if (name === "example" || name === "examples") return undefined;
    // The client takes a parameter with fields as an object, and sends each field as a parameter of its own.
    return value?.in === "query" && value.content
      ? { ...value, schema: value.content["application/json"].schema, content: undefined }
      : value;
  });
  const codes = errorKinds.map((kind) => `  /** ${meaningOf(kind)} */\n  | ${codeOf(kind)}`);
  const types = errorKinds.map((kind) => `  | "${typeOf(kind)}"`);
  return [
    "// Generated from the API description by scripts/client-types.ts.",
    `/** The codes of errors. */\nexport type ErrorCode =\n${codes.join("\n")};`,
    `/** The names of errors, one for each code. */\nexport type ErrorType =\n${types.join("\n")};`,
    // Properties of the type `never` do not exist, so their lines are removed.
    astToString(await openapiTS(description)).replace(/^ *\w+\?: never;\n/gm, ""),
  ].join("\n\n");
}

if (import.meta.main) {
  await Bun.write(join(import.meta.dir, "../src/client/types.generated.ts"), await generateClientTypes());
}
