import { LongText } from "../components/text.tsx";

interface Bar {
  readonly label: string;
  readonly value: number;
  /** The value as it is written, such as `12 of 20 points`. */
  readonly text?: string;
}

interface BarsProps {
  readonly caption: string;
  readonly bars: readonly Bar[];
  /** The value of a full bar. */
  readonly max?: number;
  /** What the values sum to: each bar then begins where the one before it ends, and the last is the sum. */
  readonly sum?: Bar;
}

/** Characters of a label that others wrote. */
const LABEL_CHARS = 40;

/** Values as bars in a list, each with its number. */
export function Bars({ caption, bars, max = greatestOf(bars), sum }: BarsProps) {
  let start = 0;
  const rows = bars.map((bar) => {
    const from = start;
    if (sum !== undefined) start += bar.value;
    return { bar, from };
  });
  return (
    <figure class="card bars">
      <figcaption>{caption}</figcaption>
      <ul>
        {rows.map(({ bar, from }) => (
          <Row key={bar.label} bar={bar} from={from} max={max} look="bars-row" />
        ))}
        {sum !== undefined && <Row bar={sum} from={0} max={max} look="bars-row bars-sum" />}
      </ul>
    </figure>
  );
}

interface RowProps {
  readonly bar: Bar;
  readonly from: number;
  readonly max: number;
  readonly look: string;
}

function Row({ bar: { label, value, text }, from, max, look }: RowProps) {
  const share = (part: number) => `${max > 0 ? (part / max) * 100 : 0}%`;
  return (
    <li class={look}>
      <span class="bars-label">
        <LongText text={label} maxChars={LABEL_CHARS} />
      </span>
      <span class="bars-track" aria-hidden="true">
        <span class="bars-bar" style={{ marginInlineStart: share(from), width: share(value) }} />
      </span>
      <span class="bars-value">{text ?? value.toLocaleString()}</span>
    </li>
  );
}

function greatestOf(bars: readonly Bar[]): number {
  return Math.max(...bars.map(({ value }) => value), 0);
}
