import { DEFAULT_LIST_ITEMS } from "../../../domain/shared/limits.ts";
import {
  dropRejected,
  listRejected,
  retryRejected,
} from "../../../usecases/sync/runs/rejected-lists.ts";
import type { SyncDeps } from "../../../usecases/sync/shared/sync-deps.ts";
import {
  type AddCommand,
  type CommandTools,
  type CommonOptions,
  declareCommand,
} from "../../command-runner.ts";
import { EXIT, type ExitCode } from "../../failure.ts";
import { countOf } from "../../output.ts";
import { wholeId } from "../../whole-id.ts";
import { type ListOptions, printNext } from "./runs.ts";

export const addRejectedCommand: AddCommand = (parent, run) => {
  const group = parent.command("rejected");
  declareCommand(group, "list")
    .summary("list the records that wait for the next run")
    .description(
      "Lists the records that either deployment rejected, newest first. Every run tries them again.",
    )
    .argument("[table]", "only those of one table")
    .option("--limit <n>", "how many", String(DEFAULT_LIST_ITEMS))
    .option("--cursor <cursor>", "continue where the previous list ended")
    .action((table: string | undefined, options: ListOptions) =>
      run(options, (tools) => list(tools, options, table ?? null)),
    );
  declareCommand(group, "retry")
    .summary("try a record again, now")
    .description(
      "Tries a rejected record again without waiting for the next run: one that this end rejected is written here, one " +
        "that the remote rejected is sent there as the row is now. Exit code 3 when it is rejected again.",
    )
    .argument("<id>", "as listed; its beginning is enough")
    .action((id: string, options: CommonOptions) => run(options, (tools) => retry(tools, id)));
  declareCommand(group, "drop")
    .summary("forget a record")
    .description("Forgets a rejected record: no run tries it again before it changes.")
    .argument("<id>", "as listed; its beginning is enough")
    .action((id: string, options: CommonOptions) => run(options, (tools) => drop(tools, id)));
};

async function list(
  { output, openStore }: CommandTools,
  { limit, cursor }: ListOptions,
  tableName: string | null,
): Promise<ExitCode> {
  const { sync } = (await openStore()).services;
  const part = await listRejected(sync, { limit, cursor: cursor ?? null }, tableName);
  output.printJson(part);
  for (const { id, table, direction, key, message, attempts, lastAt } of part.items) {
    output.print(`${id}  ${direction} ${table} ${JSON.stringify(key)}`);
    output.print(`  ${message} (tried ${countOf(attempts, "time")}, last at ${lastAt})`);
  }
  if (part.items.length === 0) output.print("No record waits");
  printNext(output, part.nextCursor);
  return EXIT.success;
}

async function retry({ output, open, interruption }: CommandTools, id: string): Promise<ExitCode> {
  const { sync } = (await open()).services;
  const whole = await wholeRejectedId(sync, id);
  const result = await retryRejected(sync, whole, interruption.stopSignal());
  output.printJson(result);
  const { direction, table, key, message } = result.item;
  const label = `${direction} ${table} ${JSON.stringify(key)}`;
  if (result.status === "written") {
    output.print(`${label}: written ${direction === "push" ? "there" : "here"}`);
    return EXIT.success;
  }
  if (result.status === "dropped") {
    output.print(`${label}: dropped, as the row here stays`);
    return EXIT.success;
  }
  output.tellError(`${label}: rejected again: ${message}`);
  return EXIT.partial;
}

async function drop({ output, openStore }: CommandTools, id: string): Promise<ExitCode> {
  const { sync } = (await openStore()).services;
  const whole = await wholeRejectedId(sync, id);
  await dropRejected(sync, whole);
  output.printJson({ id: whole, status: "dropped" });
  output.print(`Dropped ${whole}`);
  return EXIT.success;
}

async function wholeRejectedId(sync: SyncDeps, id: string): Promise<string> {
  return await wholeId(id, {
    read: (query) => listRejected(sync, query, null),
    idOf: (item) => item.id,
  });
}
