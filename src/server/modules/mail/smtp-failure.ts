type SmtpError = Error &
  Partial<Record<"code" | "originalCode" | "command" | "response", string>> & { responseCode?: number };

const maxCharacters = 200;
const meanings: Record<string, string> = {
  EABORT: "the mail server did not answer in time",
  EAUTH: "the mail server rejected the credentials",
  ECONNECTION: "the mail server closed the connection",
  EDNS: "the host name of the mail server was not found. Check BODEGA_SMTP_URL",
  ETIMEDOUT: "the mail server did not answer in time",
  ESOCKET: "the mail server cannot be reached. Check that it runs, and host and port in BODEGA_SMTP_URL",
  ETLS: "the TLS connection to the mail server failed",
  ERR_SSL_WRONG_VERSION_NUMBER: "the mail server does not speak TLS on this port. Try STARTTLS: smtp://…",
  EPROTOCOL: "the mail server does not accept mail",
};

/** Classifies the error of a failed attempt. @param secrets texts that the result must not repeat. */
export function readSmtpFailure(error: unknown, secrets: readonly string[]) {
  const { code = "unexpected", originalCode, command = "", response, responseCode } = error as SmtpError;
  const permanent = responseCode !== undefined && responseCode >= 500 && ![503, 530].includes(responseCode);
  const isRejected = permanent && (command === "RCPT TO" || command === "DATA");
  const isUnusable = code === "EENVELOPE" && command === "API";
  return {
    /** The server rejects this mail, so another attempt cannot help. */
    isFinal: isRejected || isUnusable,
    /** The mail server cannot be used, so other mail would fail, too. */
    isOutage: code in meanings,
    isCredentials: code === "EAUTH",
    text: describe(code, originalCode, response, secrets),
  };
}

function describe(code: string, originalCode = "", response = "", secrets: readonly string[] = []): string {
  const detail = /^E[A-Z]{3,20}$|^[A-Z][A-Z_]{4,50}$/.test(originalCode) ? originalCode : code;
  // A reply to AUTH may repeat the credentials in any form, so only its status code is shown.
  const answer = code === "EAUTH" ? response.slice(0, 3) : withoutSecrets(response, secrets);
  const meaning =
    (/CERT|SSL|TLS/.test(detail) ? (meanings[detail] ?? meanings.ETLS) : meanings[code]) ??
    (answer === "" ? "the mail could not be sent" : "the mail server rejected the mail");
  return `${meaning} (${detail})${answer === "" ? "" : `: ${answer}`}`.slice(0, maxCharacters);
}

function withoutSecrets(response: string, secrets: readonly string[]): string {
  let text = response.replace(/[\p{Cc}\s]+/gu, " ").trim();
  for (const secret of secrets) if (secret !== "") text = text.replaceAll(secret, "…");
  return text.replace(/[^\s<>:;,"'()]+@[^\s<>:;,"'()]+/g, "…");
}
