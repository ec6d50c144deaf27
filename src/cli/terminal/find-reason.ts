import { AppError } from "../../server/errors.ts";

/** Describes the innermost cause of an unexpected error in one line, without paths and without Drizzle's SQL. */
export function findReason(error: unknown): string {
  if (error instanceof AppError) return error.message;
  let innermost = error;
  while (innermost instanceof Error && innermost.cause instanceof Error) innermost = innermost.cause;
  if (!(innermost instanceof Error)) return "unknown";
  const { code } = innermost as NodeJS.ErrnoException;
  const name = typeof code === "string" ? code : innermost.name;
  const line = innermost.message.split("\n")[0] ?? "";
  const hasSql = /\b(select|insert|update|delete|create|alter|drop|pragma|begin|query)\b/i.test(line);
  const hasPath = /(file:|\/)\S*(\$bunfs|~BUN|node_modules|\.[cm]?[jt]s\b|bodega\b)/.test(line);
  if (line === "" || hasSql || hasPath) return name;
  return line.startsWith(name) ? line : `${name}: ${line}`;
}
