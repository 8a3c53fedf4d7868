import type { Operation } from "../operation.ts";
import { fileRoutes } from "./sync/file-routes.ts";
import { pageRoutes, type ServedSync } from "./sync/page-routes.ts";
import { pushRoute } from "./sync/push-route.ts";
import { rejectedRoutes } from "./sync/rejected-routes.ts";
import { rowRoutes } from "./sync/row-routes.ts";
import type { SyncAdministration } from "./sync/run-replies.ts";
import { runRoutes } from "./sync/run-routes.ts";
import { statusRoute } from "./sync/status-route.ts";
import { tableRoutes } from "./sync/table-routes.ts";
import { triggerRoutes } from "./sync/trigger-routes.ts";

/** Every operation under `/api/v1/sync`. S-4, D-4, D-7, D-9.5. */
export function syncRoutes(served: ServedSync, administration: SyncAdministration): Operation[] {
  return [
    ...pageRoutes(served),
    pushRoute(served),
    statusRoute(served),
    ...triggerRoutes(administration),
    ...runRoutes(administration),
    ...rejectedRoutes(administration),
    ...tableRoutes(administration),
    ...fileRoutes(administration),
    ...rowRoutes(administration),
  ];
}
