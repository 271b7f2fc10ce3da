import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface DialogProps {
  title: string;
  /** Called when the dialog closes: with Escape, a click outside of it, or by the caller. */
  onClose: () => void;
  /** Whether the dialog is as wide as the window allows, for images. */
  wide?: boolean | undefined;
  children: ComponentChildren;
}

/** A modal dialog. The element itself traps the focus and returns it. */
export function Dialog({ title, onClose, wide, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // Returns the focus when the caller removes the dialog. The event `close` arrives after the removal.
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class={wide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={id}
      onClose={() => {
        if (element.current !== null) onClose();
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget) event.currentTarget.close();
      }}
    >
      <div class="stack">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
