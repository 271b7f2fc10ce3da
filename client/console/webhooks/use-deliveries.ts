import type { Signal } from '@preact/signals';
import type { EventDelivery, EventDeliveryPage } from '../../index.ts';
import { usePolled } from '../calls/use-polled.ts';
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
  return usePolled(
    async (signal) => ({
      page: await endpointsOf(client, scope).deliveries(id, { page_size: limit }, { signal }),
    }),
    ({ page }) => page?.items.some(isOpen) === true,
    [limit, refreshKey],
  );
}

const isOpen = ({ state }: EventDelivery) => state === 'open';
