import { formatCount, withHint } from "../../../domain/shared/text.ts";
import { markerName } from "../../../domain/sync/run/remote-memory.ts";
import { rowsIn, type SyncStatus } from "../../../domain/sync/run/run.ts";
import { readTableStates } from "../../../usecases/operations/table-histories.ts";
import {
  type RemoteStatus,
  readRemoteStatus,
  readSyncStatus,
} from "../../../usecases/sync/shared/sync-status.ts";
import { type AddCommands, type CommandTools, declareCommand } from "../../command-runner.ts";
import { ageText, type Columns, tableLines } from "../../output.ts";

export const addCommands: AddCommands = (parent, run) => {
  declareCommand(parent, "status")
    .description(
      "Shows the tables, row counts and last-sync markers of this deployment, and those of the remote where one is " +
        "configured and can be reached.",
    )
    .action(run(showStatus));
};

async function showStatus({ output, openToRead }: CommandTools): Promise<void> {
  const { sync } = (await openToRead(true)).services;
  const local = await readSyncStatus(sync);
  const remote = await output.waitFor("the remote (SYNC_REMOTE_URL)", readRemoteStatus(sync));
  const states = await readTableStates(sync, local.tableCounts, remote);
  const behind = new Map(states.map(({ table, behindSeconds }) => [table, behindSeconds]));
  const tables = Object.fromEntries(
    states.map(({ table, behindSeconds }) => [table, { behindSeconds }]),
  );
  output.show(
    { local, remote, tables },
    ...["This deployment", ...statusLines(local, behind), "", ...remoteLines(remote)],
  );
}

function remoteLines(remote: RemoteStatus | null): string[] {
  if (remote === null) return ["Remote: none is configured (SYNC_REMOTE_URL)"];
  if (remote.status === null)
    return [`Remote ${remote.url}: ${withHint(remote.error, remote.hint)}`];
  return [`Remote ${remote.url}`, ...statusLines(remote.status)];
}

function behindText(seconds: number | null): string {
  if (seconds === null) return "never run";
  return seconds === 0 ? "up to date" : `behind ${ageText(seconds)}`;
}

/** `behind`: seconds by table that an end may be behind; null for a table never run or compared. */
function statusLines(
  status: SyncStatus,
  behind: ReadonlyMap<string, number | null> | null = null,
): string[] {
  if (!status.syncEnabled) return [`  sync is disabled; server time ${status.serverTime}`];
  const columns: Columns<string> = {
    table: (name) => name,
    rows: (name) => countText(rowsIn(status.tableCounts, name)),
    "pushed up to": (name) => status.lastSync[markerName("push", name)] ?? "never",
    "pulled up to": (name) => status.lastSync[markerName("pull", name)] ?? "never",
    ...(behind === null ? {} : { state: (name) => behindText(behind.get(name) ?? null) }),
  };
  const lines = tableLines(status.tables, columns, ["rows"]);
  return [
    `  sync is enabled; server time ${status.serverTime}`,
    ...lines.map((line) => `  ${line}`),
  ];
}

function countText(rows: number | null): string {
  return rows === null ? "unknown" : formatCount(rows);
}
