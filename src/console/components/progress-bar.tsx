import { useId } from "preact/hooks";

interface ProgressBarProps {
  readonly label: string;
  readonly done: number;
  /** Null when nobody knows how much there is. */
  readonly total: number | null;
  /** Beside the bar, such as `1,200 of 5,000 rows, 300 rows/s`. */
  readonly text?: string;
}

/** How far long work has come. */
export function ProgressBar({ label, done, total, text }: ProgressBarProps) {
  const id = useId();
  const known = total === null ? {} : { max: Math.max(total, done, 1), value: done };
  return (
    <div class="progress">
      <label for={id}>{label}</label>
      <progress id={id} {...known} />
      {text !== undefined && <span class="progress-text">{text}</span>}
    </div>
  );
}
