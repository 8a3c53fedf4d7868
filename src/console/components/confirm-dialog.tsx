import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { ActionButton } from "./buttons.tsx";
import { ActionForm, type Typed } from "./form.tsx";
import { Sentence } from "./text.tsx";

interface ConfirmDialogProps {
  readonly name: string;
  /** Such as `Revoke the key “shop”?` */
  readonly question: string;
  /** Explanations, and fields. */
  readonly children?: ComponentChildren;
  /** When it rejects, the dialog stays open and shows the failure. */
  readonly onConfirm: (typed: Typed) => unknown;
  /** Called in every case. */
  readonly onClose: () => void;
}

/** Asks before something that cannot be taken back. Rendered while it is open. D-9.4. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { name, question, children, onConfirm, onClose } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);

  /** Closes at once: the event comes later, when the control may have been pressed again. */
  function close() {
    if (dialog.current === null) return;
    // Closing the element gives the focus back.
    dialog.current.close();
    onClose();
  }

  return (
    <dialog ref={dialog} aria-labelledby={titleId} onCancel={close} onClose={close}>
      <h2 id={titleId}>
        <Sentence text={question} />
      </h2>
      <ActionForm
        name={name}
        look="danger"
        onBack={close}
        onSubmit={async (typed) => {
          await onConfirm(typed);
          close();
        }}
      >
        {children}
      </ActionForm>
    </dialog>
  );
}

interface ConfirmButtonProps extends Omit<ConfirmDialogProps, "onClose"> {
  /** The object, for screen readers. */
  readonly of?: string;
  readonly look?: "plain" | "danger";
}

export function ConfirmButton({ of, look = "plain", ...dialog }: ConfirmButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <ActionButton look={look} of={of} onPress={() => setOpen(true)}>
        {dialog.name}
      </ActionButton>
      {isOpen && <ConfirmDialog {...dialog} onClose={() => setOpen(false)} />}
    </>
  );
}
