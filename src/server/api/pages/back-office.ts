import { type AppError, routeNotFound } from "../../errors.ts";
import { collectFiles } from "../../values/collect-files.ts" with { type: "macro" };
import { filePages } from "./file-pages.ts";
import type { Answer } from "./pages.ts";

/** Pictures on other servers are not loaded, because those servers would learn who looks at the page. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; " +
  "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types 'none'";
const pages = filePages(collectFiles("../../examples/back-office") as Record<string, string>, {
  "Content-Security-Policy": policy,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Frame-Options": "DENY",
});

/** Serves the files of `examples/back-office`. The redirect is relative, because a proxy may add a prefix. */
export async function answerBackOffice(request: Request): Promise<Answer | AppError> {
  const { pathname, search } = new URL(request.url);
  const name = /\/back-office\/(.*)$/.exec(pathname)?.[1];
  if (name === undefined)
    return (headers) => new Response(null, { status: 308, headers: { ...headers, Location: `back-office/${search}` } });
  return pages.get(name || "index.html")?.(request) ?? routeNotFound();
}
