import type { ComponentChildren } from 'preact';
import { Code } from './call-panel.tsx';
import { TaskProgress } from './task-progress.tsx';
import type { TaskRun } from './task-run.ts';

interface TaskResultProps<Result extends { task: object }> {
  run: TaskRun<Result>;
  /** Class of the placeholder of a running task. */
  placeholder: string;
  /** Cancels the task at the provider, where its format allows it. */
  onCancel?: ((id: string) => Promise<unknown>) | undefined;
  /** Renders the result of a completed task. */
  children: (result: Result) => ComponentChildren;
}

/** A task of a page: a placeholder, then its result, with its progress and its response. */
export function TaskResult<Result extends { task: object }>({
  run,
  placeholder,
  onCancel,
  children,
}: TaskResultProps<Result>) {
  const state = run.state.value;
  return (
    <section class="card stack" aria-label="Result">
      {state.status === 'running' && <div class={`${placeholder} skeleton`} />}
      {state.status === 'done' && children(state.result)}
      <TaskProgress run={run} onCancel={onCancel} />
      {state.status === 'done' && (
        <details>
          <summary class="secondary">Response</summary>
          <Code text={JSON.stringify(state.result.task, null, 2)} label="Response" />
        </details>
      )}
    </section>
  );
}
