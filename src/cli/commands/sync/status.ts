import { markerName } from "../../../domain/sync/run/marker.ts";
import type { SyncStatus } from "../../../domain/sync/run/run.ts";
import { readRemoteStatus } from "../../../usecases/operations/read-remote-status.ts";
import { readSyncStatus } from "../../../usecases/sync/pages/read-sync-status.ts";
import {
  type AddCommand,
  type CommandTools,
  type CommonOptions,
  declareCommand,
} from "../../command-runner.ts";
import { EXIT, type ExitCode } from "../../failure.ts";
import { formatCount, tableLines } from "../../output.ts";

export const addStatusCommand: AddCommand = (parent, run) => {
  declareCommand(parent, "status")
    .description(
      "Shows the tables, row counts and last-sync markers of this deployment, and those of the remote where one is " +
        "configured and can be reached.",
    )
    .action((options: CommonOptions) => run(options, showStatus));
};

async function showStatus({ output, open }: CommandTools): Promise<ExitCode> {
  const { sync } = (await open()).services;
  const local = await readSyncStatus(sync);
  const remote = await readRemoteStatus(sync);
  output.printJson({ local, remote });
  output.print("This deployment", ...statusLines(local));
  if (remote === null) output.print("", "Remote: none is configured (SYNC_REMOTE_URL)");
  else if (remote.status === null) output.print("", `Remote ${remote.url}: ${remote.error}`);
  else output.print("", `Remote ${remote.url}`, ...statusLines(remote.status));
  return EXIT.success;
}

function statusLines(status: SyncStatus): string[] {
  if (!status.syncEnabled) return [`  sync is disabled; server time ${status.serverTime}`];
  const marker = (direction: "push" | "pull", table: string) =>
    status.lastSync[markerName(direction, table)] ?? "never";
  const rows = status.tables.map((name) => [
    name,
    countText(status.tableCounts[name] ?? -1),
    marker("push", name),
    marker("pull", name),
  ]);
  const lines = tableLines([["table", "rows", "pushed up to", "pulled up to"], ...rows], ["rows"]);
  return [
    `  sync is enabled; server time ${status.serverTime}`,
    ...lines.map((line) => `  ${line}`),
  ];
}

/** S-2.5: -1 is a table that cannot be counted. */
function countText(count: number): string {
  return count < 0 ? "unknown" : formatCount(count);
}
