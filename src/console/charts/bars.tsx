import { LongText } from "../components/text.tsx";

interface Bar {
  readonly label: string;
  readonly value: number;
  /** The value as it is shown, such as `12.50`. */
  readonly text: string;
}

interface SumBarsProps {
  readonly caption: string;
  readonly bars: readonly Bar[];
  readonly sum: Bar;
  /** The value of a full bar. */
  readonly max: number;
}

/** The most shown characters of a label, as others write labels. */
const LABEL_CHARS = 40;

/** Values as bars: each begins where the one before ends, and the last is the sum. */
export function SumBars({ caption, bars, sum, max }: SumBarsProps) {
  const share = (part: number) => `${(part / max) * 100}%`;
  const rowOf = ({ label, value, text }: Bar, start: number, look?: string) => (
    <li key={label} class={look}>
      <span>
        <LongText text={label} maxChars={LABEL_CHARS} />
      </span>
      <span class="bars-track" aria-hidden="true">
        <span class="bars-bar" style={{ marginInlineStart: share(start), width: share(value) }} />
      </span>
      <span class="bars-value">{text}</span>
    </li>
  );
  let end = 0;
  return (
    <figure class="card bars">
      <figcaption>{caption}</figcaption>
      <ul>
        {bars.map((bar) => {
          end += bar.value;
          return rowOf(bar, end - bar.value);
        })}
        {rowOf(sum, 0, "bars-sum")}
      </ul>
    </figure>
  );
}
