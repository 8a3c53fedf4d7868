interface Bar {
  readonly label: string;
  readonly value: number;
  /** The value as it is written, such as `12 of 20 points`. */
  readonly text?: string;
}

/** Values as bars in a list, each with its number. */
export function Bars({
  caption,
  bars,
  max = Math.max(...bars.map(({ value }) => value), 0),
}: {
  readonly caption: string;
  readonly bars: readonly Bar[];
  /** The value of a full bar. */
  readonly max?: number;
}) {
  return (
    <figure class="bars">
      <figcaption>{caption}</figcaption>
      <ul>
        {bars.map(({ label, value, text }) => (
          <li key={label}>
            <bdi class="bars-label value">{label}</bdi>
            <span class="bars-track" aria-hidden="true">
              <span class="bars-bar" style={{ width: `${max > 0 ? (value / max) * 100 : 0}%` }} />
            </span>
            <span class="bars-value">{text ?? value.toLocaleString()}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}
