import { request } from "../../api/request.ts";
import { useResource } from "../../api/use-resource.ts";

/** The tables of the registry; none before they are loaded, and while sync is disabled. */
export function useTableNames(): readonly string[] {
  const { data } = useResource((signal) => request("get", "/api/v1/sync/status", { signal }));
  return data?.tables ?? [];
}
