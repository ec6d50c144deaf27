interface DemoAccess {
  url: string;
  data_dir: string;
  namespace: string;
  app_id: string;
  app_secret: string;
  product_id: string;
  email: string;
  password: string;
}

/** Requests on the demo store that work when pasted into a shell. */
export function formatDemoGuide({ url, namespace, ...demo }: DemoAccess): string {
  const { app_id, app_secret, product_id, email, password } = demo;
  const curl = `curl -H 'Authorization: Bearer ${app_id}:${app_secret}'`;
  const address = (path: string) => `'${url}${path}?namespace=${namespace}'`;
  const json = "-H 'Content-Type: application/json'";
  const send = (body: object) => `${json} -d '${JSON.stringify(body)}'`;
  const steps: [string, string][] = [
    ["List its products", `${curl} ${address("/products/")}`],
    ["Read one of them", `${curl} ${address(`/products/${product_id}/`)}`],
    ["Add one", `${curl} ${send({ title: "Blue mug", price: 12.5 })} ${address("/products/")}`],
    ["Change its price", `${curl} -X PATCH ${send({ price: 9.99 })} ${address(`/products/${product_id}/`)}`],
    ["Find some", `${curl} '${url}/products/?namespace=${namespace}&q=shirt&lang=de'`],
    ["Order one", `${curl} ${send({ items: [{ product_id, quantity: 1 }] })} ${address("/orders/")}`],
    [
      "Like one, as anybody",
      `curl ${send({ resource_type: "product", resource_id: product_id })} ${address("/likes/")}`,
    ],
    ["View it", `curl ${send({ resource_type: "product", resource_id: product_id })} ${address("/views/")}`],
    ["Sign a customer in", `curl ${send({ email, password })} ${address("/auth/login/")}`],
    ["Let them reset the password", `curl ${send({ email })} ${address("/auth/password/forgot/")}`],
  ];
  const lines = steps.map(([title, command]) => `# ${title}\n${command}\n`);
  const mail = `# No mail is sent; the code is in\nbodega mail list -n ${namespace} --data-dir '${demo.data_dir}'\n`;
  return `\nThe demo store is the namespace ${namespace}. Paste these into another terminal:\n\n${lines.join("\n")}\n${mail}\n`;
}
