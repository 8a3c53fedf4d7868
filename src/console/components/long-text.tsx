import { useState } from "preact/hooks";

/** Characters that are shown of a long text. */
const SHOWN_CHARS = 200;

/** A value that others wrote: always text, never able to turn what stands beside it around, cut when it is long. */
export function LongText({
  text,
  maxChars = SHOWN_CHARS,
}: {
  readonly text: string;
  readonly maxChars?: number;
}) {
  const [isWhole, setWhole] = useState(false);
  if (text.length <= maxChars) return <bdi class="value">{text}</bdi>;
  return (
    <>
      <bdi class="value">{isWhole ? text : `${text.slice(0, maxChars)}…`}</bdi>{" "}
      <button
        type="button"
        class="link-button"
        aria-expanded={isWhole}
        onClick={() => setWhole(!isWhole)}
      >
        {isWhole ? "Show less" : `Show all ${text.length} characters`}
      </button>
    </>
  );
}
