import type { AcmeConfig } from "../../config/acme-config.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { AcmeProblem } from "./client.ts";

/** Reasons and remedies, by type and text of the error. Some authorities report an unknown name as `connection`. */
const steps = [
  [/^reach/, "the certificate authority cannot be reached", "Allow https to it, and check --acme-directory."],
  [/^dns|no such host|could not resolve|NXDOMAIN/, "a name has no address (DNS)", "Create its A or AAAA record."],
  [
    /^(connection|unauthorized|incorrectResponse|tls)/,
    "a name does not lead to this server (port 80)",
    "Open port 80 in the firewall, and check that the A and AAAA records of the names lead to this machine.",
  ],
  [
    /^caa/,
    "a CAA record forbids it (CAA)",
    'Allow it in the record, such as: example.com CAA 0 issue "letsencrypt.org"',
  ],
  [/^rateLimited/, "the authority limits requests", "Wait until the limit has passed."],
  [/^/, "the certificate authority refused", "Correct what its reply names, such as --acme or --acme-email."],
] as const;

/** Returns the reason, the authority's reply and a remedy. The server tries again at `nextAt`, in epoch milliseconds. */
export function describeError(error: unknown, { names }: Pick<AcmeConfig, "names">, nextAt: number) {
  const { message: reply } = error as Error;
  const text = `${error instanceof AcmeProblem ? error.type : "reach"} ${reply}`;
  const [, reason, remedy] = steps.find(([pattern]) => pattern.test(text)) ?? steps[5];
  const again = `The next try is at ${toTimestamp(nextAt)}, or at once after: systemctl reload bodega`;
  const message = `No certificate was obtained for ${names.join(", ")}: ${reason}. The error: ${reply.replace(/\.?$/, ".")}`;
  return { message, remedy: `${remedy} ${again}` };
}
