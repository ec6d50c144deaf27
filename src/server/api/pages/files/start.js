// The page makes no request to elsewhere, and keeps no credentials.
const options = {
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: "",
  persistAuth: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
  hiddenClients: {
    c: true,
    clojure: true,
    csharp: true,
    dart: true,
    fsharp: true,
    go: true,
    http: true,
    java: true,
    js: true,
    kotlin: true,
    node: true,
    objc: true,
    ocaml: true,
    php: true,
    powershell: true,
    python: true,
    r: true,
    ruby: true,
    rust: true,
    swift: true,
    shell: ["httpie", "wget"],
  },
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
};

const root = new URL(".", location.href).href.replace(/\/$/, "");
const namespace = "demo";

/** A call with the client that the server has at `/client.js`. */
function writeExample(name, { parameters = [], requestBody, security }, { schemas, parameters: shared }) {
  const media = requestBody?.content["application/json"]?.schema;
  const schema = media?.$ref ? schemas[media.$ref.split("/").pop()] : media;
  const body = schema?.example ?? schema?.examples?.[0];
  const all = parameters.map((one) => shared[one.$ref?.split("/").pop()] ?? one);
  const needed = (place) => all.filter((one) => one.in === place && one.required && one.name !== "namespace");
  const valuesOf = (place) => Object.fromEntries(needed(place).map((one) => [one.name, one.example ?? "…"]));
  const input = { path: valuesOf("path"), query: valuesOf("query"), body };
  const given = Object.entries(input).filter(([, value]) => value && Object.keys(value).length > 0);
  const argument = given.length > 0 ? `, ${JSON.stringify(Object.fromEntries(given), null, 2)}` : "";
  return [
    `import { createClient } from "${root}/client.js";`,
    "",
    "const shop = createClient({",
    `  url: "${root}",`,
    `  namespace: "${namespace}",`,
    ...(security?.length ? ['  app: { id: "<app_id>", secret: "<app_secret>" },'] : []),
    "});",
    `const { data } = await shop.call("${name}"${argument.replaceAll(/"(\w+)":/g, "$1:")});`,
  ].join("\n");
}

async function start() {
  const content = await (await fetch("openapi.json")).json();
  content.components.parameters.namespace.example = namespace;
  for (const [path, methods] of Object.entries(content.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const isStored = operation.parameters?.some(({ $ref }) => $ref?.endsWith("/namespace"));
      if (!isStored) continue;
      const source = writeExample(`${method.toUpperCase()} ${path}`, operation, content.components);
      operation["x-codeSamples"] = [{ lang: "typescript", label: "TypeScript", source }];
    }
  }
  Scalar.createApiReference("#reference", { ...options, content });
}

void start();
