// The page sends no request to other servers, and stores no credentials.
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
const { elements } = document.querySelector("#caller");

/** Returns a call with the client that the server serves at `/client.js`. */
function writeExample(name, { parameters = [], requestBody, security }, { schemas, parameters: shared }, caller) {
  const media = requestBody?.content["application/json"]?.schema;
  const schema = media?.$ref ? schemas[media.$ref.split("/").pop()] : media;
  const body = schema?.example ?? schema?.examples?.[0];
  const all = parameters.map((one) => shared[one.$ref?.split("/").pop()] ?? one);
  const needed = (place) => all.filter((one) => one.in === place && one.required && one.name !== "namespace");
  const valuesOf = (place) => Object.fromEntries(needed(place).map((one) => [one.name, one.example ?? "…"]));
  const input = { path: valuesOf("path"), query: valuesOf("query"), body };
  const given = Object.entries(input).filter(([, value]) => value && Object.keys(value).length > 0);
  const argument = given.length > 0 ? `, ${JSON.stringify(Object.fromEntries(given), null, 2)}` : "";
  const [id, secret] = (caller.key || "<app_id>:<app_secret>").split(":");
  const isOpen = security?.some((way) => Object.keys(way).length === 0);
  return [
    `import { createClient } from "${root}/client.js";`,
    "",
    "const shop = createClient({",
    `  url: "${root}",`,
    `  namespace: "${caller.namespace}",`,
    ...(isOpen ? [] : [`  app: { id: "${id}", secret: "${secret}" },`]),
    "});",
    `const { data } = await shop.call("${name}"${argument.replaceAll(/"(\w+)":/g, "$1:")});`,
  ].join("\n");
}

/**
 * Removes patterns from the page, because descriptions say the same in words. Replaces references that can be null,
 * because the library warns of them.
 */
function simplify(node) {
  if (typeof node !== "object" || node === null) return;
  if (typeof node.pattern === "string") delete node.pattern;
  for (const [name, { anyOf: [one, none] = [], description = "" } = {}] of Object.entries(node).filter(isObject)) {
    if (one?.$ref && none?.type === "null") node[name] = { ...one, description: `${description} Or null.`.trim() };
  }
  for (const inner of Object.values(node)) simplify(inner);
}

const isObject = ([, value]) => typeof value === "object" && value !== null;

/** Returns the description with examples for this caller. */
function describeFor(caller, text) {
  const content = JSON.parse(text);
  const { info, paths, components } = content;
  simplify([paths, components]);
  components.parameters.namespace.example = caller.namespace;
  info.description = info.description
    .replace("http://127.0.0.1:8080", root)
    .replace("namespace=demo", `namespace=${caller.namespace}`)
    .replace("<app_id>:<app_secret>", caller.key || "<app_id>:<app_secret>");
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const isOfStore = operation.parameters?.some(({ $ref }) => $ref?.endsWith("/namespace"));
      if (!isOfStore) continue;
      const source = writeExample(`${method.toUpperCase()} ${path}`, operation, components, caller);
      operation["x-codeSamples"] = [{ lang: "typescript", label: "TypeScript", source }];
    }
  }
  return content;
}

async function start() {
  const text = await (await fetch("openapi.json")).text();
  let reference;
  function show() {
    const caller = { namespace: elements.namespace.value || "demo", key: elements.key.value };
    const authentication = { preferredSecurityScheme: "app", securitySchemes: { app: { token: caller.key } } };
    reference?.destroy();
    reference = Scalar.createApiReference("#reference", {
      ...options,
      authentication,
      content: describeFor(caller, text),
    });
  }
  show();
  for (const input of [elements.namespace, elements.key]) input.addEventListener("change", show);
}

document.querySelector("#caller").addEventListener("submit", (event) => event.preventDefault());
void start();
