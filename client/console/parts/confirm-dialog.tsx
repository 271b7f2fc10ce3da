import type { ComponentChildren } from 'preact';
import { useRun } from '../calls/run.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorNotice } from './notices.tsx';

interface ConfirmDialogProps {
  title: string;
  /** Text of the button that confirms. */
  label: string;
  call: (signal: AbortSignal) => Promise<void>;
  onClose: () => void;
  /** The consequences. */
  children: ComponentChildren;
}

/** Asks for a confirmation before a call that cannot be undone. The caller closes the dialog when the call is complete. */
export function ConfirmDialog({ title, label, call, onClose, children }: ConfirmDialogProps) {
  const run = useRun<void>();
  const state = run.state.value;
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      {state.status === 'failed' && <ErrorNotice error={state.error} />}
      <div class="row">
        <Button variant="danger" busy={state.status === 'running'} onClick={() => void run.start(call)}>
          {label}
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}
