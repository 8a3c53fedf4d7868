/** The events of a run in words. */
export function RunLines({ lines }: { readonly lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <details class="lines">
      <summary>Events</summary>
      <ol>
        {lines.map((line, i) => (
          <li key={i}>
            <bdi class="value">{line}</bdi>
          </li>
        ))}
      </ol>
    </details>
  );
}
