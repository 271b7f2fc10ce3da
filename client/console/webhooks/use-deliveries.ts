import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { EventDelivery, EventDeliveryPage } from '../../index.ts';
import { pollIntervalMs } from '../activity/poll-interval.ts';
import { useClient } from '../session/session.ts';
import { endpointsOf, type Scope } from './endpoint-calls.ts';

interface DeliveriesState {
  page?: EventDeliveryPage;
  error?: unknown;
}

/** Follows the newest deliveries to an endpoint while one of them is open. `refreshKey` loads them again. */
export function useDeliveries(
  scope: Scope,
  id: number,
  limit: number,
  refreshKey: unknown,
): Signal<DeliveriesState> {
  const client = useClient();
  const state = useSignal<DeliveriesState>({});
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async () => {
      try {
        const page = await endpointsOf(client, scope).deliveries(id, { page_size: limit }, { signal });
        state.value = { page };
      } catch (error) {
        if (!signal.aborted) state.value = { ...state.peek(), error };
      }
      if (!signal.aborted && state.peek().page?.items.some(isOpen))
        timer = setTimeout(() => void load(), pollIntervalMs());
    };
    void load();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [limit, refreshKey]);
  return state;
}

const isOpen = ({ state }: EventDelivery) => state === 'open';
