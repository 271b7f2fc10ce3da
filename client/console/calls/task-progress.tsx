import { useSignal } from '@preact/signals';
import { Ban, RotateCw, Square } from 'lucide';
import { useEffect } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Badge, ErrorNotice } from '../parts/notices.tsx';
import { formatDuration } from '../parts/numbers.tsx';
import { Cost } from './cost.tsx';
import { useRun } from './run.ts';
import type { TaskRun, TaskView } from './task-run.ts';

/** A task that ends sooner had ended before the page asked for it. */
const minShownMs = 1_000;

interface TaskProgressProps {
  run: TaskRun<unknown>;
  /** Accessible name, for a page with several tasks. */
  label?: string;
  /** Cancels the task at the provider, where its format allows it. */
  onCancel?: ((id: string) => Promise<unknown>) | undefined;
  /** Whether the page already shows the error of the run. */
  hideError?: boolean;
}

/** The state of a task: status, percent, elapsed time and ids, then its cost or its error. Empty before the first task. */
export function TaskProgress({ run, label = 'Task', onCancel, hideError }: TaskProgressProps) {
  const view = run.view.value;
  const state = run.state.value;
  if (view === undefined) return null;
  if (state.status === 'failed' && view.id === undefined)
    return hideError ? null : <ErrorNotice error={state.error} />;
  return (
    <section class="task" aria-label={label}>
      <div class="row-between">
        <p class="row" aria-live="polite">
          <StatusBadge view={view} status={state.status} />
          {state.status === 'running' && view.percent !== undefined && (
            <span class="numeric">{view.percent} %</span>
          )}
          {state.status === 'done' && state.elapsedMs > minShownMs && (
            <span class="secondary">in {formatDuration(state.elapsedMs)}</span>
          )}
          {state.status === 'done' && view.requestId && <Cost requestId={view.requestId} />}
        </p>
        {state.status === 'running' && (
          <div class="row">
            <Elapsed startedAt={state.startedAt} />
            <Button small icon={Square} onClick={() => run.stop()}>
              Stop waiting
            </Button>
            {onCancel && view.id && <CancelButton id={view.id} onCancel={onCancel} />}
          </div>
        )}
        {state.status === 'idle' && view.id && (
          <div class="row">
            <Button small icon={RotateCw} onClick={() => void run.resume()}>
              Wait again
            </Button>
          </div>
        )}
      </div>
      {state.status === 'running' && (
        <progress class="progress" max={100} aria-label="Progress" value={view.percent || undefined} />
      )}
      {state.status === 'idle' && view.id && (
        <p class="secondary">The gateway still works on this task. Only the wait has ended.</p>
      )}
      {state.status === 'failed' && !hideError && <ErrorNotice error={state.error} />}
      <Ids view={view} />
    </section>
  );
}

function StatusBadge({ view, status }: { view: TaskView; status: string }) {
  const tones = { done: 'success', failed: 'danger', running: 'accent' } as const;
  const label = status === 'idle' ? (view.id ? 'not waiting' : 'stopped') : view.status;
  return (
    <Badge tone={status in tones ? tones[status as keyof typeof tones] : 'neutral'}>
      {label.toLowerCase().replaceAll('_', ' ')}
    </Badge>
  );
}

function Ids({ view: { id, requestId } }: { view: TaskView }) {
  const ids = [
    ['Task', id],
    ['Request', requestId],
  ] as const;
  return (
    <p class="task-ids secondary">
      {ids.map(
        ([name, value]) =>
          value && (
            <span key={name}>
              {name} <code>{value}</code>
              <CopyButton text={value} label={`Copy the ${name.toLowerCase()} id`} />
            </span>
          ),
      )}
    </p>
  );
}

function CancelButton({ id, onCancel }: { id: string; onCancel: (id: string) => Promise<unknown> }) {
  const run = useRun<unknown>();
  const { value: state } = run.state;
  return (
    <>
      <Button
        small
        variant="danger"
        icon={Ban}
        busy={state.status === 'running'}
        onClick={() => void run.start(() => onCancel(id))}
      >
        Cancel task
      </Button>
      {state.status === 'failed' && <ErrorNotice error={state.error} />}
    </>
  );
}

/** The time since the start, which counts on its own. */
function Elapsed({ startedAt }: { startedAt: number }) {
  const now = useSignal(performance.now());
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = performance.now();
    }, 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.floor((now.value - startedAt) / 1_000));
  return <span class="numeric secondary">{seconds} s</span>;
}
