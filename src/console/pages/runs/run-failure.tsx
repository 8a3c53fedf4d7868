import { adviceOn, type Run } from "./run-text.ts";

/** Why a run failed, or is not whole, and what to do. */
export function RunFailure({ run }: { readonly run: Run }) {
  if (run.error !== undefined) {
    return (
      <div class="note note-error">
        <p>
          <bdi class="value">{run.error}</bdi>
        </p>
        <p>{adviceOn(run)}</p>
      </div>
    );
  }
  if (run.kind === "compare" || run.error_count === 0) return null;
  return (
    <p class="note note-warning">
      Some records were rejected.{" "}
      <a href="/console/rejected">See why, and try again or drop them</a>
    </p>
  );
}
