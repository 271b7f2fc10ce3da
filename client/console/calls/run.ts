import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { AbortError, APIError } from '../../index.ts';
import { rememberError } from '../session/remembered-errors.ts';

export type RunState<Result> =
  | { status: 'idle' }
  | { status: 'running'; startedAt: number }
  | { status: 'done'; result: Result; elapsedMs: number }
  | { status: 'failed'; error: unknown };

/** Returns what a call has to show: its result or its error. Undefined while there is nothing. */
export function outcomeOf<Result>(state: RunState<Result>): unknown {
  if (state.status === 'done') return state.result;
  return state.status === 'failed' ? state.error : undefined;
}

/** A call that the user starts and may stop. A new start aborts the call before it. */
export class Run<Result> {
  readonly state: Signal<RunState<Result>> = signal({ status: 'idle' });
  #controller: AbortController | undefined;

  /** Starts the call. Errors become the state `failed`, except that of `stop`. */
  async start(call: (signal: AbortSignal) => Promise<Result>): Promise<void> {
    this.#controller?.abort();
    const controller = new AbortController();
    this.#controller = controller;
    const startedAt = performance.now();
    this.state.value = { status: 'running', startedAt };
    try {
      const result = await call(controller.signal);
      if (this.#controller !== controller) return;
      this.state.value = { status: 'done', result, elapsedMs: performance.now() - startedAt };
    } catch (error) {
      if (this.#controller !== controller) return;
      const isStopped = error instanceof AbortError || controller.signal.aborted;
      if (error instanceof APIError) rememberError(error);
      this.state.value = isStopped ? { status: 'idle' } : { status: 'failed', error };
    }
  }

  /** Aborts the call. */
  stop(): void {
    this.#controller?.abort();
  }

  /** Aborts the call and forgets its result. */
  reset(): void {
    this.stop();
    this.#controller = undefined;
    this.state.value = { status: 'idle' };
  }
}

/** Returns a run that ends with the component. */
export function useRun<Result>(): Run<Result> {
  const run = useMemo(() => new Run<Result>(), []);
  useEffect(() => () => run.stop(), [run]);
  return run;
}

/** Loads data when the component appears and whenever `key` changes. */
export function useLoaded<Result>(
  load: (signal: AbortSignal) => Promise<Result>,
  key: unknown = '',
): Run<Result> {
  const run = useRun<Result>();
  useEffect(() => {
    void run.start(load);
  }, [key]);
  return run;
}

/** Returns the last result of a run, which stays while the run starts again, so that the page does not jump. */
export function useLastResult<Result>({ state }: Run<Result>): Result | undefined {
  const last = useRef<Result>(undefined);
  if (state.value.status === 'done') last.current = state.value.result;
  return last.current;
}
