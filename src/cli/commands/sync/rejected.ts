import { countOf } from "../../../domain/shared/text.ts";
import type { RejectedItem } from "../../../domain/sync/run/rejections.ts";
import {
  dropRejected,
  listRejected,
  retryRejected,
} from "../../../usecases/sync/runs/rejected-lists.ts";
import {
  type AddCommands,
  type CommandTools,
  declareCommand,
  EXIT,
  type ExitCode,
} from "../../command-runner.ts";
import { addListOptions, type ListOptions, wholeId } from "../../lists.ts";

export const addCommands: AddCommands = (parent, run) => {
  const group = parent.command("rejected");
  const listing = declareCommand(group, "list")
    .description(
      "Lists the records that either deployment rejected, newest first. Every run tries them again.",
    )
    .argument("[table]", "only those of one table");
  addListOptions(listing).action(run(list));
  declareCommand(group, "retry")
    .description(
      "Tries a rejected record again without waiting for the next run: one that this end rejected is written here, one " +
        "that the remote rejected is sent there as the row is now.",
    )
    .argument("<id>", "as listed; its beginning is enough")
    .action(run(retry));
  declareCommand(group, "drop")
    .description("Forgets a rejected record: no run tries it again before it changes.")
    .argument("<id>", "as listed; its beginning is enough")
    .action(run(drop));
};

async function list(
  { output, openToRead }: CommandTools,
  tableName: string | undefined,
  options: ListOptions,
): Promise<void> {
  const { sync } = (await openToRead()).services;
  output.showList(
    await listRejected(sync, options, tableName ?? null),
    "No record waits",
    (items) =>
      items.flatMap((item) => [
        `${item.id}  ${labelOf(item)}`,
        `  ${item.message} (tried ${countOf(item.attempts, "time")}, last at ${item.lastAt})`,
      ]),
  );
}

async function retry({ output, open, interruption }: CommandTools, id: string): Promise<ExitCode> {
  const { sync } = (await open()).services;
  const whole = await wholeId(id, (query) => listRejected(sync, query, null));
  const result = await retryRejected(sync, whole, interruption.stopSignal());
  const { status, item } = result;
  const ends = {
    written: [`${labelOf(item)}: written ${item.direction === "push" ? "there" : "here"}`],
    dropped: [`${labelOf(item)}: dropped, as the row here stays`],
    rejected: [],
  };
  output.show(result, ...ends[status]);
  if (status !== "rejected") return EXIT.success;
  output.tellError(`${labelOf(item)}: rejected again: ${item.message}`);
  return EXIT.partial;
}

async function drop({ output, openStore }: CommandTools, id: string): Promise<void> {
  const { sync } = (await openStore()).services;
  const whole = await wholeId(id, (query) => listRejected(sync, query, null));
  await dropRejected(sync, whole);
  output.show({ id: whole, status: "dropped" }, `Dropped ${whole}`);
}

function labelOf({ direction, table, key }: RejectedItem): string {
  return `${direction} ${table} ${JSON.stringify(key)}`;
}
