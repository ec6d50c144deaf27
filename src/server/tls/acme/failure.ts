import { toTimestamp } from "../../values/stamps.ts";
import { AcmeProblem } from "./client.ts";

/** What failed, for the log and `doctor`. `reply` is what the authority answered. */
export interface Failure {
  step: keyof typeof steps;
  host: string;
  reply: string;
}

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
  reach: () => [
    "the certificate authority cannot be reached",
    "Allow outgoing https connections to it, and check --acme-directory.",
  ],
  authority: () => ["the certificate authority refused", "See its reply, and correct --acme or --acme-email."],
};

const stepOfType: Record<string, Failure["step"]> = {
  ...{ dns: "dns", caa: "caa", rateLimited: "limit" },
  ...{ connection: "port80", unauthorized: "port80", incorrectResponse: "port80", tls: "port80" },
};

export function describeError(error: unknown, names: readonly string[]): Failure {
  const { message } = error as Error;
  const [first = ""] = names;
  if (!(error instanceof AcmeProblem)) return { step: "reach", host: first, reply: message };
  // Some authorities report an unknown name as a failed connection.
  const type = /no such host|could not resolve|NXDOMAIN/.test(message) ? "dns" : error.type;
  return { step: stepOfType[type] ?? "authority", host: error.host ?? first, reply: message };
}

/** @param nextAt when the server tries again, in epoch milliseconds. */
export function describeFailure({ step, host, reply }: Failure, nextAt: number) {
  const [reason = "", remedy = ""] = steps[step](host);
  const again = `The next try is at ${toTimestamp(nextAt)}, or at once after: kill -HUP <pid>`;
  return {
    message: `No certificate was obtained for ${host}: ${reason}. It answered: ${reply.replace(/\.?$/, ".")}`,
    remedy: `${remedy} ${again}`,
  };
}
