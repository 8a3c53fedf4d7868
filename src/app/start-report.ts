// What a start prints. D-10.4.
import type { Config } from "./config.ts";

const DOCS = "/swagger";

interface Started {
  readonly url: string;
  readonly hasAdministrator: boolean;
  /** True where this start has made the store: who meant another one sees it here. D-11.4. */
  readonly isNewStore: boolean;
}

/** The lines for people: the address first. No secret is among them. */
export function startReport(
  config: Config,
  { url, hasAdministrator, isNewStore }: Started,
): readonly string[] {
  const { isConsoleEnabled, isSyncEnabled, registry, remoteUrl } = config;
  const tables = `${registry.size} ${registry.size === 1 ? "table" : "tables"}`;
  const facts: readonly (readonly [name: string, text: string])[] = [
    ["console", isConsoleEnabled ? `${url}/console` : "off: CONSOLE_ENABLED is false"],
    ["store", `${withoutCredentials(config.storageUrl)}${isNewStore ? ", new" : ""}`],
    ["sync", isSyncEnabled ? `on, ${tables}` : "off: set SYNC_ENABLED=true to synchronize"],
    ["remote", remoteUrl ?? "none: set SYNC_REMOTE_URL to run against another deployment"],
    ["schedule", scheduleText(config)],
    // Not the whole address: the rest may be a secret of the receiver's.
    ...(config.webhook === null
      ? []
      : [["alerts", `to ${new URL(config.webhook.url).origin}`] as const]),
    ["docs", url + DOCS],
  ];
  return [
    `repsync is listening on ${url}`,
    ...facts.map(([name, text]) => `  ${name.padEnd(8)}  ${text}`),
    ...(hasAdministrator
      ? []
      : ["There is no administrator yet; make one with: repsync admin create NAME"]),
  ];
}

function scheduleText({ schedule, compareSchedule, compareRepair }: Config): string {
  const runs = schedule === null ? [] : [schedule];
  const repair = compareRepair === null ? "" : `, repaired by ${compareRepair}`;
  const comparisons = compareSchedule === null ? [] : [`compared at ${compareSchedule}${repair}`];
  return [...runs, ...comparisons].join("; ") || "none";
}

/** As operators know the store: the hosts and the database, or the file. */
function withoutCredentials(storageUrl: string): string {
  return storageUrl.replace(/^([a-z+]+:\/\/)(?:[^/?]*@)?([^?]*).*$/s, "$1$2");
}
