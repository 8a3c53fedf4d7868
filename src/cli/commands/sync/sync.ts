import { Argument, Option } from "commander";
import { isAppError } from "../../../domain/shared/errors.ts";
import type { RunDirection } from "../../../domain/sync/run/run.ts";
import { StartedRun } from "../../../usecases/sync/runs/start-run.ts";
import {
  type AddCommands,
  type CommandTools,
  declareJob,
  EXIT,
  type ExitCode,
  readWhole,
} from "../../command-runner.ts";
import { openProgress } from "../../progress.ts";
import { RunView } from "../../run-view.ts";

interface SyncOptions {
  readonly full?: true;
  readonly dryRun?: true;
  readonly force?: true;
  readonly maxDeletes?: number;
  readonly events?: true;
}

export const addCommands: AddCommands = (parent, run) => {
  declareJob(parent, "sync")
    .description(
      "Moves the rows that changed since the last run to or from the remote deployment (SYNC_REMOTE_URL). " +
        "A run that was stopped goes on where it was.",
    )
    .addArgument(new Argument("<direction>", "which way").choices(["push", "pull", "both"]))
    .argument("[table]", "one table; without it every table of the registry")
    .option("--full", "move every row: forget where the last runs ended")
    .option("--dry-run", "count what would move, and change nothing")
    .option(
      "--force",
      "overwrite newer rows, and move tables that go the other way; with push or pull only",
    )
    .option("--max-deletes <n>", "rows that may be deleted at an end of each table", readWhole)
    .addOption(
      new Option(
        "--events",
        "write the run's events to standard output, one JSON object per line",
      ).implies({ json: true }),
    )
    .action(run(sync));
};

async function sync(
  { output, interruption, open, openToRead }: CommandTools,
  direction: RunDirection,
  tableName: string | null = null,
  options: SyncOptions,
): Promise<ExitCode> {
  const { full: isFull = false, dryRun: isDryRun = false, events: isEvents = false } = options;
  const { force: isForced = false, maxDeletes = null } = options;
  const { config, services } = await (isDryRun ? openToRead(true) : open());
  const flags = { isFull, isDryRun, isForced, maxDeletes };
  const run = new StartedRun(services.sync, { direction, tableName, ...flags, trigger: "cli" });
  interruption.onStop(() => run.stop(`Cancelled by ${interruption.received()}`));
  const names = [...config.registry.keys()];
  const labelChars = "push ".length + Math.max(...names.map((name) => name.length));
  const board = openProgress(output, labelChars);
  const view = new RunView(output, board, () => run.describe("running"));
  for await (const news of run.news()) {
    if (!isEvents) {
      if (news.type !== "error" || interruption.received() === null) view.show(news);
    } else if (news.type !== "retry") output.printJson(news);
  }
  board.finish();
  const { run: result, error } = await run.outcome;
  if (!isEvents) output.printJson({ ...result, dryRun: isDryRun });
  if (run.isKept) view.conclude(result);
  const signal = interruption.received();
  if (result.status === "failed" && signal !== null) {
    output.tellError(`Stopped by ${signal}; run the same command to continue`);
  }
  if (isAppError(error, "sync_misconfigured")) return EXIT.usage;
  return result.status === "running" ? EXIT.failed : EXIT[result.status];
}
