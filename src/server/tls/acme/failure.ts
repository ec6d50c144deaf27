import { toTimestamp } from "../../values/stamps.ts";
import { AcmeProblem } from "./client.ts";

/** What failed, for the log and `doctor`. `reply` is what the authority answered. */
export interface Failure {
  step: keyof typeof steps;
  host: string;
  reply: string;
}

/** The reason and the remedy of each step. */
const steps = {
  dns: (host: string) => [
    `the name ${host} leads nowhere (DNS)`,
    `Create an A or AAAA record for ${host} with the address of this machine.`,
  ],
  port80: (host: string) => [
    `this server cannot be reached at http://${host} (port 80)`,
    `Open port 80 in the firewall, and check that the A and AAAA records of ${host} lead to this machine.`,
  ],
  caa: (host: string) => [
    `a CAA record of ${host} forbids it (CAA)`,
    `Allow the authority in the CAA record, such as: ${host} CAA 0 issue "letsencrypt.org"`,
  ],
  limit: () => ["the authority limits requests", "Wait. The server tries again when the authority allows it."],
  reach: () => ["the certificate authority cannot be reached", "Allow https to it, and check --acme-directory."],
  authority: () => ["the certificate authority refused", "See its reply, and correct --acme or --acme-email."],
};
const stepOfType: Record<string, Failure["step"]> = {
  ...{ dns: "dns", caa: "caa", rateLimited: "limit" },
  ...{ connection: "port80", unauthorized: "port80", incorrectResponse: "port80", tls: "port80" },
};

export function describeError(error: unknown, [name]: readonly [string, ...string[]]): Failure {
  const { message: reply } = error as Error;
  if (!(error instanceof AcmeProblem)) return { step: "reach", host: name, reply };
  // Some authorities report an unknown name as a failed connection.
  const type = /no such host|could not resolve|NXDOMAIN/.test(reply) ? "dns" : error.type;
  return { step: stepOfType[type] ?? "authority", host: error.host ?? name, reply };
}

/** @param nextAt when the server tries again, in epoch milliseconds. */
export function describeFailure({ step, host, reply }: Failure, nextAt: number) {
  const [reason = "", remedy = ""] = steps[step](host);
  const again = `The next try is at ${toTimestamp(nextAt)}, or at once after: kill -HUP <pid>`;
  const message = `No certificate was obtained for ${host}: ${reason}. It answered: ${reply.replace(/\.?$/, ".")}`;
  return { message, remedy: `${remedy} ${again}` };
}
