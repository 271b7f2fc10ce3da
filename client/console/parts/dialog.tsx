import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface DialogProps {
  title: string;
  /** Called when the dialog closes: with Escape, a click outside of it, or by the caller. */
  onClose: () => void;
  /** Whether the dialog is as wide as the window allows, for images. */
  wide?: boolean | undefined;
  /** Whether only a button of the dialog closes it, for content that is not shown again. */
  persistent?: boolean;
  children: ComponentChildren;
}

/** A modal dialog. The element itself traps the focus and returns it. */
export function Dialog({ title, onClose, wide, persistent = false, children }: DialogProps) {
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
      onCancel={(event) => {
        if (persistent) event.preventDefault();
      }}
      onClose={() => {
        if (element.current !== null) onClose();
      }}
      onClick={(event) => {
        if (!persistent && event.target === event.currentTarget) event.currentTarget.close();
      }}
    >
      <div class="stack">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
