import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { pollIntervalMs } from '../activity/poll-interval.ts';

type Polled<Value extends object> = Partial<Value> & { error?: unknown };

/**
 * Reads a value, and reads it again while `isOpen`. A failed read keeps the last value and sets `error`. A change of
 * `inputs` starts again.
 */
export function usePolled<Value extends object>(
  read: (signal: AbortSignal) => Promise<Value>,
  isOpen: (value: Polled<Value>) => boolean,
  inputs: readonly unknown[],
): Signal<Polled<Value>> {
  const state = useSignal<Polled<Value>>({});
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async () => {
      try {
        state.value = await read(signal);
      } catch (error) {
        if (!signal.aborted) state.value = { ...state.peek(), error };
      }
      if (!signal.aborted && isOpen(state.peek())) timer = setTimeout(() => void load(), pollIntervalMs());
    };
    void load();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [...inputs]);
  return state;
}
