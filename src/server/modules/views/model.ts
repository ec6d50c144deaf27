import { type Static, Type } from "@sinclair/typebox";
import { closed, input, output, whole } from "../../values/schema.ts";
import { namedList, resourceIds, resourceParts } from "../resources/registry.ts";
import { visitorPart } from "../visitors/actor.ts";

export const usualDays = 30;

export const ViewInput = input("ViewInput", { ...resourceParts, ...visitorPart });

export const ViewsQuery = closed({
  resource_type: resourceParts.resource_type,
  resource_id: resourceIds,
  ...visitorPart,
  days: Type.Optional(
    whole(1, 366, "Number of days in the series of one resource, including today.", { default: usualDays }),
  ),
});

const state = {
  active: Type.Boolean({ description: "Whether the caller's view counts today; false for bots." }),
  count: Type.Integer({ minimum: 0, description: "Number of all views. New views are added within a second." }),
};

export const ViewState = output("ViewState", state);
export type ViewState = Static<typeof ViewState>;

export const Views = output("Views", {
  ...state,
  days: Type.Array(
    output("ViewsOfDay", {
      day: Type.String({ format: "date", description: "Day in UTC." }),
      count: Type.Integer({ minimum: 0 }),
    }),
    { description: "Views by day, oldest first. Days without views have the count 0." },
  ),
});
export type Views = Static<typeof Views>;

export const ViewStates = namedList("ResourceViewState", state);
