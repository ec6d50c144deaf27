interface DemoAccess {
  url: string;
  namespace: string;
  app_id: string;
  app_secret: string;
  product_id: string;
}

/** Requests on the demo store that work when pasted into a shell. */
export function formatDemoGuide({ url, namespace, app_id, app_secret, product_id }: DemoAccess): string {
  const curl = `curl -H 'Authorization: Bearer ${app_id}:${app_secret}'`;
  const address = (path: string) => `'${url}${path}?namespace=${namespace}'`;
  const json = "-H 'Content-Type: application/json'";
  const steps: [string, string][] = [
    ["List its products", `${curl} ${address("/products/")}`],
    ["Read one of them", `${curl} ${address(`/products/${product_id}/`)}`],
    ["Add one", `${curl} ${json} -d '{"title":"Blue mug","price":12.5}' ${address("/products/")}`],
    ["Change its price", `${curl} -X PATCH ${json} -d '{"price":9.99}' ${address(`/products/${product_id}/`)}`],
  ];
  const lines = steps.map(([title, command]) => `# ${title}\n${command}\n`);
  return `\nThe demo store is the namespace ${namespace}. Paste these into another terminal:\n\n${lines.join("\n")}\n`;
}
