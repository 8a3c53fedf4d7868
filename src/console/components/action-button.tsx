import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface ActionButtonProps {
  /** The button is busy until the promise settles; failures are for the handler to catch and show. */
  readonly onPress?: () => unknown;
  /** `submit` sends the form around it. */
  readonly type?: "button" | "submit";
  readonly look?: "plain" | "main" | "danger";
  /** Busy for another reason than a press. */
  readonly isBusy?: boolean;
  readonly isDisabled?: boolean;
  /** What it acts on, which screen readers say after its name: `Revoke` of many rows. */
  readonly of?: string;
  readonly children: ComponentChildren;
}

/** A button. While it is busy it keeps the focus and takes no press. */
export function ActionButton(props: ActionButtonProps) {
  const { onPress, type = "button", look = "plain", isDisabled = false, of, children } = props;
  const [isPressed, setPressed] = useState(false);
  const isBusy = isPressed || (props.isBusy ?? false);

  async function press(event: Event) {
    if (isBusy) event.preventDefault();
    if (isBusy || onPress === undefined) return;
    setPressed(true);
    try {
      await onPress();
    } finally {
      setPressed(false);
    }
  }

  return (
    <button
      type={type}
      class={`button button-${look}`}
      disabled={isDisabled}
      aria-disabled={isBusy ? "true" : undefined}
      aria-busy={isBusy ? "true" : undefined}
      // A description, so that the name stays the one that is seen.
      aria-description={of}
      onClick={press}
    >
      {children}
    </button>
  );
}
