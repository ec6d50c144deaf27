import type { AcmeConfig } from "../../config/acme-config.ts";
import { type AcmeClient, AcmeProblem, type Problem } from "./client.ts";
import { createSigningRequest } from "./signing-request.ts";

interface Order {
  status: string;
  authorizations: string[];
  finalize: string;
  certificate?: string;
  error?: Problem;
}

interface Authorization {
  status: string;
  challenges: { type: string; url: string; token: string; error?: Problem }[];
}

/**
 * Obtains a certificate with a new key, by HTTP-01. Returns chain and key in PEM. Errors: as `openAcme`.
 * @param publish serves the answers to challenges, by token, on port 80.
 */
export async function obtainCertificate(
  client: AcmeClient,
  { names, email }: AcmeConfig,
  publish: (answers: Record<string, string>) => Promise<unknown>,
): Promise<string> {
  await client.signUp(email);
  const identifiers = names.map((value) => ({ type: "dns", value }));
  const begun = await client.post(client.directory.newOrder, { identifiers });
  const order: Order = JSON.parse(begun.text);
  const answers: Record<string, string> = {};
  for (const url of order.authorizations) {
    const { status, challenges }: Authorization = JSON.parse((await client.post(url)).text);
    if (status === "valid") continue;
    const challenge = challenges.find(({ type }) => type === "http-01");
    if (!challenge) throw new AcmeProblem({ detail: "It offers no HTTP-01 challenge." });
    answers[challenge.token] = await client.answerTo(challenge.token);
    await publish(answers);
    await client.post(challenge.url, {});
    const proved = await client.poll<Authorization>(url, ["pending"]);
    if (proved.status === "valid") continue;
    const failed = proved.challenges.find(({ error }) => error);
    throw new AcmeProblem(failed?.error ?? { detail: `The authorization is ${proved.status}.` });
  }
  const { key, request } = createSigningRequest(names);
  await client.post(order.finalize, { csr: request });
  const orderUrl = begun.headers.get("location") ?? "";
  const done = await client.poll<Order>(orderUrl, ["pending", "ready", "processing"]);
  if (done.certificate === undefined) throw new AcmeProblem(done.error ?? { detail: `The order is ${done.status}.` });
  return `${(await client.post(done.certificate)).text.trim()}\n${key}`;
}
