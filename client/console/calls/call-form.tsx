import { useSignal } from '@preact/signals';
import { Square } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Form } from '../contract/form.ts';
import { Button } from '../parts/button.tsx';
import { formatDuration } from '../parts/numbers.tsx';
import type { Run } from './run.ts';
import { submitHandlers } from './submit.ts';

/** Refresh of the elapsed time. */
const tickMs = 100;

interface CallFormProps {
  run: Run<unknown>;
  /** Text of the button. */
  label: string;
  /** Whether the page shows the progress of a task, with its own button to stop. */
  hasTask?: boolean;
  onSubmit: () => Promise<void>;
  children: ComponentChildren;
}

/** The form of a call. Its button, Ctrl+Enter and Cmd+Enter start the call; while it runs, it can be stopped. */
export function CallForm({ run, label, hasTask, onSubmit, children }: CallFormProps) {
  const element = useRef<HTMLFormElement>(null);
  const state = run.state.value;
  const isRunning = state.status === 'running';
  const submit = async () => {
    await onSubmit();
    requestAnimationFrame(() => {
      element.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid="true"]')?.focus();
    });
  };
  return (
    <form
      ref={element}
      class="card fields"
      noValidate
      {...submitHandlers(() => {
        if (!isRunning) void submit();
      })}
    >
      {children}
      {/* The field keeps the focus: leaving it shows its problem, which would move the button away from the pointer. */}
      <div class="row" onMouseDown={(event) => event.preventDefault()}>
        <Button submit variant="primary" busy={isRunning}>
          {label}
        </Button>
        {isRunning && !hasTask && (
          <>
            <Button icon={Square} onClick={() => run.stop()}>
              Stop
            </Button>
            <Elapsed since={state.startedAt} />
          </>
        )}
        {!isRunning && <span class="field-hint shortcut">Ctrl Enter</span>}
      </div>
      <p class="visually-hidden" role="status">
        {isRunning ? 'The call is running.' : state.status === 'done' ? 'The call is complete.' : ''}
      </p>
    </form>
  );
}

/** Starts a call if its form is complete. The form shows errors at the fields that they name. */
export async function submitForm<Result>(
  form: Form,
  run: Run<Result>,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<void> {
  if (!form.checkAll()) return;
  await run.start(call);
  const state = run.state.peek();
  if (state.status === 'failed' && form.reject(state.error)) run.reset();
}

function Elapsed({ since }: { since: number }) {
  const now = useSignal(performance.now());
  useEffect(() => {
    const timer = setInterval(() => (now.value = performance.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  return <span class="muted numeric">{formatDuration(Math.max(0, now.value - since))}</span>;
}
