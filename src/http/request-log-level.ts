import type { AnsweredRequest } from "../ports/http/metrics.ts";

const LOOKUPS = "/v1/public/";

/**
 * Level of the line that each answered request gets. Lookups that were allowed are the bulk of what a deployment answers,
 * and each is in the audit log: their lines are for debugging. D-5.3.
 */
export function requestLogLevel({ route, status }: AnsweredRequest): "info" | "debug" {
  return status === 200 && route?.startsWith(LOOKUPS) ? "debug" : "info";
}
