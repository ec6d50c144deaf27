import { malformedRequest, validationFailed } from "../errors.ts";
import type { Route } from "../http/route.ts";
import { validate, validateQuery } from "../values/validate.ts";

/** The checked parameters of the path. Errors: malformedRequest for invalid encoding, validationFailed. */
export function checkParams(route: Route, params: Record<string, string>) {
  if (!route.params) return {};
  for (const name in route.params.properties) {
    // The router omits parameters that it cannot decode.
    if (params[name] == null) throw malformedRequest("The path is not valid percent-encoded UTF-8.");
  }
  return validate(route.params, params, "path");
}

/** The checked query; without a schema it must be empty. Errors: validationFailed. */
export function checkQuery(route: Route, query: Record<string, string>) {
  if (route.query) return validateQuery(route.query, query);
  for (const name in query) return refuseUnknown(name);
  return {};
}

/** The checked body; without a schema it must be empty. Errors: validationFailed. */
export function checkBody(route: Route, value: Record<string, unknown> | undefined) {
  if (route.body) return validate(route.body, value ?? {}, "body");
  for (const name in value) return refuseUnknown(name);
  return undefined;
}

function refuseUnknown(name: string): never {
  const field = name.slice(0, 64);
  throw validationFailed(`Validation failed: ${field}.`, { details: [{ field, message: "is not a known field" }] });
}
