import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { requestIdOf } from '../../index.ts';
import { outcomeOf, Run } from './run.ts';

/** State of a task while it runs. */
export interface TaskView {
  /** Undefined until the gateway has created the task. */
  id?: string;
  /** Request id of the call that created the task. Undefined for a task that was created before. */
  requestId?: string;
  /** Status in the words of the protocol. */
  status: string;
  /** 0 to 100. Undefined if the protocol does not report it. */
  percent?: number | undefined;
}

interface TaskWait {
  signal: AbortSignal;
  pollIntervalMs: number;
  onProgress: (progress: { id: string; status: string; percent: number | undefined }) => void;
}

/** Creates tasks and waits for them. The task methods of the client fit, such as `client.videos`. */
export interface TaskCalls<Request, Created extends object, Done> {
  create(body: Request, options: { signal: AbortSignal }): Promise<Created>;
  idOf(created: Created): string;
  waitFor(id: string, options: TaskWait): Promise<Done>;
}

/** Polling asks only the gateway, which polls the provider at its own pace. */
const pollIntervalMs = 1_500;

/** A task that the user starts. `stop` ends the wait; the task continues and `resume` waits for it again. */
export class TaskRun<Done> extends Run<Done> {
  /** Undefined before the first task. */
  readonly view: Signal<TaskView | undefined> = signal(undefined);
  #waitAgain: (() => Promise<void>) | undefined;

  /** Creates a task and waits for it. */
  submit<Request, Created extends object>(calls: TaskCalls<Request, Created, Done>, body: Request) {
    this.#waitAgain = undefined;
    this.view.value = { status: 'submitting' };
    return this.start(async (abort) => {
      const created = await calls.create(body, { signal: abort });
      const id = calls.idOf(created);
      const requestId = requestIdOf(created);
      this.#waitAgain = () => this.#wait(calls, id);
      this.view.value = { id, status: 'queued', ...(requestId && { requestId }) };
      return await this.#poll(calls, id, abort);
    });
  }

  /** Waits for a task that exists. */
  follow<Request, Created extends object>(
    calls: TaskCalls<Request, Created, Done>,
    id: string,
    requestId?: string,
  ) {
    this.view.value = { id, status: 'loading', ...(requestId && { requestId }) };
    this.#waitAgain = () => this.#wait(calls, id);
    return this.#waitAgain();
  }

  /** The id of the task, or the error of the call that should have created it. */
  get outcome(): unknown {
    return this.view.value?.id ?? outcomeOf(this.state.value);
  }

  override reset(): void {
    super.reset();
    this.view.value = undefined;
  }

  /** Waits again after `stop`. */
  resume() {
    return this.#waitAgain?.();
  }

  #wait<Request, Created extends object>(calls: TaskCalls<Request, Created, Done>, id: string) {
    return this.start((abort) => this.#poll(calls, id, abort));
  }

  #poll<Request, Created extends object>(
    calls: TaskCalls<Request, Created, Done>,
    id: string,
    abort: AbortSignal,
  ) {
    return calls.waitFor(id, {
      signal: abort,
      pollIntervalMs,
      onProgress: ({ status, percent }) => {
        if (!abort.aborted) this.view.value = { ...this.view.peek(), id, status, percent };
      },
    });
  }
}

/** Returns a task run whose wait ends with the component. */
export function useTask<Done>(): TaskRun<Done> {
  const run = useMemo(() => new TaskRun<Done>(), []);
  useEffect(() => () => run.stop(), [run]);
  return run;
}
