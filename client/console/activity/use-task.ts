import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type AdminTaskDetails, APIError, type MyTaskDetails } from '../../index.ts';
import { isAdmin, useClient } from '../session/session.ts';
import { pollIntervalMs } from './poll-interval.ts';

export interface TaskState {
  /** The task with its request and response. Undefined for a task of another user. */
  own?: MyTaskDetails | undefined;
  /** The task with the details for operators. */
  operator?: AdminTaskDetails | undefined;
  error?: unknown;
}

/** Follows a task until its end. `refreshes` loads it again. */
export function useTask(id: string, refreshes: number): Signal<TaskState> {
  const client = useClient();
  const state = useSignal<TaskState>({});
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async () => {
      try {
        const [own, operator] = await Promise.all([
          client.me.tasks.retrieve(id, { signal }).catch((error: unknown) => {
            if (isAdmin.peek() && error instanceof APIError && error.status === 404) return undefined;
            throw error;
          }),
          isAdmin.peek() ? client.admin.tasks.retrieve(id, { signal }) : undefined,
        ]);
        state.value = { own, operator };
      } catch (error) {
        if (!signal.aborted) state.value = { ...state.peek(), error };
      }
      const task = state.peek().own ?? state.peek().operator;
      const isEnded = task?.state === 'completed' || task?.state === 'failed';
      if (!signal.aborted && task !== undefined && (!isEnded || task.callback === 'open'))
        timer = setTimeout(() => void load(), pollIntervalMs());
    };
    void load();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [id, refreshes]);
  return state;
}
