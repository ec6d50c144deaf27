/** What came of an attempt that failed. */
export interface SmtpFailure {
  /** Trying again cannot help: the server does not take this mail. */
  isFinal: boolean;
  /** The mail server is not there, or does not speak as it should: no other mail would fare better. */
  isOutage: boolean;
  /** A short line without address, contents or credentials. */
  text: string;
}

interface SmtpError extends Error {
  code?: string;
  originalCode?: string;
  command?: string;
  response?: string;
  responseCode?: number;
}

const maxCharacters = 200;
const meanings: Record<string, string> = {
  EABORT: "the mail server is too slow",
  EAUTH: "the mail server refused the credentials",
  ECONNECTION: "the mail server ended the connection",
  EDNS: "the mail server's name cannot be found",
  ETIMEDOUT: "the mail server does not answer",
  ESOCKET: "the mail server cannot be reached",
  ETLS: "no safe connection with the mail server",
  EPROTOCOL: "the mail server takes no mail",
};

/**
 * Reads what a failed attempt threw.
 * @param secrets texts that must not be repeated, whoever repeats them to us.
 */
export function readSmtpFailure(error: unknown, secrets: readonly string[]): SmtpFailure {
  const { code = "unexpected", originalCode, command = "", response, responseCode } = error as SmtpError;
  const permanent = responseCode !== undefined && responseCode >= 500 && ![503, 530].includes(responseCode);
  const isRefused = permanent && (command === "RCPT TO" || command === "DATA");
  const isUnusable = code === "EENVELOPE" && command === "API";
  return {
    isFinal: isRefused || isUnusable,
    isOutage: code in meanings,
    text: describe(code, originalCode, response, secrets),
  };
}

function describe(code: string, originalCode = "", response = "", secrets: readonly string[] = []): string {
  const detail = /^E[A-Z]{3,20}$|^[A-Z][A-Z_]{4,50}$/.test(originalCode) ? ` (${originalCode})` : "";
  // An answer to AUTH may hold what it was sent, in any form.
  const answer = code === "EAUTH" ? response.slice(0, 3) : withoutSecrets(response, secrets);
  const meaning =
    (/CERT|SSL|TLS/.test(detail) ? meanings.ETLS : meanings[code]) ??
    (answer === "" ? "the mail could not be handed over" : "the mail server refused the mail");
  return `${code}: ${meaning}${detail}${answer === "" ? "" : `: ${answer}`}`.slice(0, maxCharacters);
}

function withoutSecrets(response: string, secrets: readonly string[]): string {
  let text = response.replace(/[\p{Cc}\s]+/gu, " ").trim();
  for (const secret of secrets) if (secret !== "") text = text.replaceAll(secret, "…");
  return text.replace(/[^\s<>:;,"'()]+@[^\s<>:;,"'()]+/g, "…");
}
