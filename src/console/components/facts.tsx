import type { ComponentChildren } from "preact";

/** What is known of one thing: names and values. A null entry is left out. */
export function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [name: string, value: ComponentChildren] | null)[];
}) {
  return (
    <dl class="fact-list">
      {facts.map(
        (fact) =>
          fact !== null && (
            <div key={fact[0]}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
