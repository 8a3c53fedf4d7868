import { request } from "../api/request.ts";
import { useResource } from "../api/use-resource.ts";
import { ResourceView } from "../components/resource-view.tsx";
import { DeploymentCards } from "./overview/deployment-cards.tsx";
import { HistoryCharts } from "./overview/history-charts.tsx";
import { TableStates } from "./overview/table-states.tsx";

const POLL_MS = 15_000;

/** How this deployment is: health, remote, schedule, tables at both ends, and what went on. D-9.4. */
export function OverviewPage() {
  const overview = useResource((signal) => request("get /api/v1/sync/overview", { signal }), {
    pollMs: POLL_MS,
  });
  return (
    <ResourceView resource={overview} name="the overview">
      {(data) => (
        <>
          <DeploymentCards overview={data} />
          <TableStates overview={data} />
          <HistoryCharts history={data.history} />
        </>
      )}
    </ResourceView>
  );
}
