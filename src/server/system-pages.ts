import type { Elysia } from "elysia";
import { AppError } from "./errors.ts";
import { describeApi } from "./http/openapi.ts";
import { answerElsewhere, type PipelineDeps } from "./http/pipeline.ts";
import type { Route } from "./http/route.ts";

interface SystemPages {
  routes: readonly Route[];
  isDraining: () => boolean;
  version: string;
}

/**
 * The pages beside the API, which name no tenant: the health pair for supervisors and load balancers, in the envelope,
 * and the API's own description, which by its standard is not.
 */
export function mountSystemPages(
  server: Elysia,
  pipeline: PipelineDeps,
  { routes, isDraining, version }: SystemPages,
): void {
  let description: string | undefined;
  const pages: Record<string, (request: Request) => Promise<Response> | Response> = {
    "/health/live": (request) => answerElsewhere(pipeline, request, data({ status: "ok" })),
    "/health/ready": async (request) => {
      const fault = isDraining() ? new AppError(5001, "The server is shutting down.") : await probe(pipeline);
      return answerElsewhere(pipeline, request, (headers, requestId) => {
        if (fault) throw fault;
        return data({ status: "ok" })(headers, requestId);
      });
    },
    "/openapi.json": (request) =>
      answerElsewhere(pipeline, request, (headers) => {
        description ??= JSON.stringify(describeApi(routes, version));
        headers["Access-Control-Allow-Origin"] = "*";
        return new Response(description, { headers });
      }),
  };
  for (const [path, answer] of Object.entries(pages)) {
    server.all(
      path,
      ({ request }) => {
        if (request.method === "GET" || request.method === "HEAD") return answer(request);
        return answerElsewhere(pipeline, request, () => {
          throw new AppError(5105, undefined, { headers: { Allow: "GET, HEAD" } });
        });
      },
      { parse: "none" },
    );
  }
}

function data(value: unknown): (headers: Record<string, string>, requestId: string) => Response {
  return (headers, requestId) => new Response(JSON.stringify({ request_id: requestId, data: value }), { headers });
}

async function probe({ db }: PipelineDeps): Promise<AppError | undefined> {
  try {
    await db.primary.execute("select value from revision");
    return undefined;
  } catch (error) {
    return error instanceof AppError ? error : new AppError(5001, "The database does not answer.", { cause: error });
  }
}
