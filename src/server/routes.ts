import type { Route } from "./http/route.ts";
import { productRoutes } from "./modules/products/routes.ts";

/** Every route of the API. What is not here does not exist. */
export const routes: readonly Route[] = [...productRoutes];
