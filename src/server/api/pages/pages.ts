import { join } from "node:path";
import libraryPath from "../../../../tools/reference/node_modules/dist/browser/standalone.js" with { type: "file" };
import { successResponse } from "../../http/envelope.ts";
import { reply } from "../../http/route.ts";
import { collectFiles } from "../../values/collect-files.ts" with { type: "macro" };
import { type Coding, chooseCoding, compress } from "../compression.ts";

export type Answer = (headers: Record<string, string>, requestId: string) => Response;

type Content = string | Uint8Array<ArrayBuffer>;

const files = collectFiles("api/pages/files") as Record<string, string>;
const textOf = (name: string) => Buffer.from(files[name] as string, "base64").toString();
const html = "text/html; charset=utf-8";
export const script = "text/javascript; charset=utf-8";
/** The reference page's library inserts styles into the page. Everything else must come from this server. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; " +
  "font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const safety = { "Content-Security-Policy": policy, "Referrer-Policy": "no-referrer" };

/** Returns a function that serves a text or file, which must not change while the process runs. Clients cache it. */
export function fixedPage(type: string, read: () => Content | Promise<Content>, more: Record<string, string> = {}) {
  const compressions: Partial<Record<Coding, ReturnType<typeof compress>>> = {};
  const prepare = async () => {
    const whole = await read();
    return { whole, tag: `W/"${Bun.hash(whole).toString(36)}"` };
  };
  let prepared: ReturnType<typeof prepare> | undefined;
  return async (request: Request): Promise<Answer> => {
    prepared ??= prepare();
    const { whole, tag } = await prepared;
    const coding =
      typeof whole === "string" ? chooseCoding(request.headers.get("accept-encoding"), whole.length) : undefined;
    if (coding) compressions[coding] ??= compress(whole as string, coding);
    const body = coding ? await compressions[coding] : whole;
    return (headers) => {
      Object.assign(headers, more, {
        "Content-Type": type,
        "Cache-Control": "no-cache",
        ETag: tag,
        Vary: "Accept-Encoding",
        ...(coding && { "Content-Encoding": coding }),
      });
      if (request.headers.get("if-none-match") === tag) return new Response(null, { status: 304, headers });
      return new Response(body, { headers });
    };
  };
}

const reference = fixedPage(html, () => textOf("reference.html"), safety);
/** The page's links are relative to `/docs`. The new address is relative too, because a proxy may add a prefix. */
const redirectToDocs: Answer = (headers) =>
  new Response(null, { status: 308, headers: { ...headers, Location: "../docs" } });

export const referencePages: Record<string, typeof reference> = {
  // Elysia uses this route for `/docs/` too, which must be redirected to `/docs`.
  "/docs": async (request) => (/^[^?]*\/docs\/(\?|$)/.test(request.url) ? redirectToDocs : reference(request)),
  "/docs/reference.js": fixedPage(script, () => Bun.file(libraryPath).text()),
  "/docs/start.js": fixedPage(script, () => textOf("start.js")),
};

/** Answers `/` with the name and version of the program. Redirects browsers to the API reference if it is served. */
export function answerHome(request: Request, version: string, hasDocs: boolean, ready: boolean): Answer {
  return (headers, requestId) => {
    headers.Vary = "Accept";
    if (hasDocs && request.headers.get("accept")?.includes("text/html"))
      return new Response(null, { status: 302, headers: { ...headers, Location: "docs" } });
    const links = { ...(hasDocs && { docs: "/docs" }), description: "/openapi.json" };
    return successResponse(requestId, reply({ name: "Bodega", version, ready, ...links }), 200, headers);
  };
}

declare const BODEGA_CLIENT_MODULE: string;
declare const BODEGA_CLIENT_TYPES: string;

const fromSource = () => import(join(import.meta.dir, "../../../../scripts/build-client.ts"));

/** The executable contains these files. From source, they are built at the first request. */
export const clientFiles = {
  "/client.js": async (): Promise<string> =>
    typeof BODEGA_CLIENT_MODULE === "string" ? BODEGA_CLIENT_MODULE : (await fromSource()).bundleClient(),
  "/client.d.ts": async (): Promise<string> =>
    typeof BODEGA_CLIENT_TYPES === "string" ? BODEGA_CLIENT_TYPES : (await fromSource()).bundleClientTypes(),
};
