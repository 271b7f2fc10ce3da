import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { Form } from '../contract/form.ts';
import { Button } from '../parts/button.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { submitForm } from './call-form.tsx';
import { useRun } from './run.ts';
import { submitHandlers } from './submit.ts';

interface DialogFormProps {
  form: Form;
  /** Text of the button. */
  label: string;
  disabled?: boolean;
  call: (signal: AbortSignal) => Promise<void>;
  onClose: () => void;
  children: ComponentChildren;
}

/** The form of a dialog, which the caller closes when the call is complete. Errors are shown at the fields that they name. */
export function DialogForm({ form, label, disabled = false, call, onClose, children }: DialogFormProps) {
  const element = useRef<HTMLFormElement>(null);
  const run = useRun<void>();
  const state = run.state.value;
  const submit = async () => {
    if (disabled || state.status === 'running') return;
    await submitForm(form, run, call);
    requestAnimationFrame(() => {
      const field = element.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
      field?.closest('details')?.setAttribute('open', '');
      field?.focus();
    });
  };
  return (
    <form ref={element} class="fields" noValidate {...submitHandlers(() => void submit())}>
      {children}
      {state.status === 'failed' && <ErrorNotice error={state.error} />}
      <div class="row" onMouseDown={(event) => event.preventDefault()}>
        <Button submit variant="primary" busy={state.status === 'running'} disabled={disabled}>
          {label}
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  );
}
