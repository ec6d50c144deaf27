import { createHash, timingSafeEqual } from "node:crypto";

/** Content type of Prometheus' text format. */
export const metricsType = "text/plain; version=0.0.4; charset=utf-8";

/** Whether a request carries the token as `Authorization: Bearer`, found out in constant time. */
export function hasToken(request: Request, token: string): boolean {
  const [, sent] = /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  return sent !== undefined && timingSafeEqual(digest(sent), digest(token));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
