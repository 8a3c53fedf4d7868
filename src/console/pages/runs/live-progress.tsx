import { counted } from "../../components/numbers.ts";
import { ProgressBar } from "../../components/progress-bar.tsx";
import type { RunProgress, TransferProgress } from "./run-progress.ts";

/** How far a run has come, table by table: the ones under way as bars, the newest first. */
export function LiveProgress({ progress }: { readonly progress: RunProgress }) {
  const { transfers, comparison, retry } = progress;
  const underWay = transfers.filter(({ status }) => status === "running").slice(-1);
  const ended = transfers.length - underWay.length;
  return (
    <>
      {comparison !== null && (
        <ProgressBar
          label="Comparing"
          done={comparison.rows}
          total={comparison.total}
          text={`${counted(comparison.rows, "row")} looked at`}
        />
      )}
      {underWay.map((transfer) => (
        <ProgressBar
          key={`${transfer.direction} ${transfer.table}`}
          label={`${transfer.direction === "push" ? "Push" : "Pull"} of ${transfer.table}`}
          done={transfer.moved}
          total={transfer.total}
          text={transferText(transfer)}
        />
      ))}
      {comparison === null && underWay.length === 0 && (
        <ProgressBar label="Under way" done={0} total={null} text="Getting ready" />
      )}
      {ended > 0 && <p class="quiet">{counted(ended, "part")} done before</p>}
      {retry !== null && (
        <p class="note note-warning" role="status">
          Waiting for the remote: <bdi class="value">{retry}</bdi>
        </p>
      )}
    </>
  );
}

function transferText({ moved, total, rowsPerSecond }: TransferProgress): string {
  const text = `${moved.toLocaleString()} of ${counted(Math.max(total, moved), "row")}`;
  return rowsPerSecond === null ? text : `${text}, ${rowsPerSecond.toLocaleString()} rows/s`;
}
