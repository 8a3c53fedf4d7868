/** `idle`: nothing to say of it. */
export type Tone = "good" | "bad" | "warning" | "busy" | "idle";

/** A word for a state; the colour only repeats it. */
export function StatusBadge({ tone, text }: { readonly tone: Tone; readonly text: string }) {
  return <span class={`badge badge-${tone}`}>{text}</span>;
}
