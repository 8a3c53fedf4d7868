import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { ActionButton } from "./buttons.tsx";
import { ActionForm, type Typed } from "./form.tsx";
import { Sentence } from "./text.tsx";

interface ConfirmDialogProps {
  /** The name of the control that asks, such as `Revoke`. */
  readonly name: string;
  /** The question, such as `Revoke the key “shop”?` */
  readonly question: string;
  /** More to know, or to type. */
  readonly children?: ComponentChildren;
  /** Does it. The dialog stays open and shows the failure when the promise rejects. */
  readonly onConfirm: (typed: Typed) => unknown;
  /** Closes the dialog, whether it was done or not. */
  readonly onClose: () => void;
}

/** Asks before something is done that cannot be taken back. Made when it is to be open. D-9.4. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { name, question, children, onConfirm, onClose } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);

  /** At once: the event of it comes later, when the control may have been pressed again. */
  function close() {
    if (dialog.current === null) return;
    // The dialog itself gives the focus back to where it was.
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
  /** Its object, for screen readers, where many buttons have one name. */
  readonly of?: string;
  readonly look?: "plain" | "danger";
}

/** A button that asks before it acts. */
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
