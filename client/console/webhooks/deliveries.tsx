import { useSignal } from '@preact/signals';
import { ChevronDown, ChevronRight } from 'lucide';
import type { Endpoint, EventDelivery } from '../../index.ts';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Badge, ErrorNotice } from '../parts/notices.tsx';
import { formatCount, Time } from '../parts/numbers.tsx';
import { ScrollRegion } from '../parts/scroll-region.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { DeliveryDetails } from './delivery-details.tsx';
import type { Scope } from './endpoint-calls.ts';
import { mayEdit } from './may-edit.ts';
import { responseOf } from './response.ts';
import { useDeliveries } from './use-deliveries.ts';

const pageSize = 20;

interface DeliveriesProps {
  scope: Scope;
  endpoint: Endpoint;
  /** The list is loaded again when this changes. */
  refreshKey: number;
}

/** The deliveries of the last day, newest first. Each opens to its request and the response of the receiver. */
export function Deliveries({ scope, endpoint, refreshKey }: DeliveriesProps) {
  const limit = useSignal(pageSize);
  const openId = useSignal<number | undefined>(undefined);
  const resends = useSignal(0);
  const { page, error } = useDeliveries(
    scope,
    endpoint.id,
    limit.value,
    `${refreshKey} ${resends.value}`,
  ).value;
  const items = page?.items ?? [];
  return (
    <section class="stack">
      <h2>Deliveries</h2>
      {error !== undefined && <ErrorNotice error={error} />}
      {page !== undefined && items.length === 0 && (
        <p class="secondary">
          There is no delivery of the last day.{mayEdit(scope) && ' Send a test event to see one.'}
        </p>
      )}
      {items.length > 0 && (
        <ScrollRegion label="Deliveries">
          <table class="table deliveries-table">
            <TableHead
              columns={[
                'Event',
                'State',
                { title: 'Response', class: 'wide-only' },
                { title: 'Event id', class: 'wide-only' },
                'Time',
              ]}
            />
            <tbody>
              {items.map((delivery) => {
                const isOpen = openId.value === delivery.id;
                return [
                  <tr key={delivery.id}>
                    <td>
                      <button
                        type="button"
                        class="delivery-toggle"
                        aria-expanded={isOpen}
                        onClick={() => (openId.value = isOpen ? undefined : delivery.id)}
                      >
                        <Icon node={isOpen ? ChevronDown : ChevronRight} />
                        {delivery.event}
                      </button>
                    </td>
                    <td>
                      <DeliveryState delivery={delivery} />
                    </td>
                    <td class="wide-only">{responseOf(delivery)}</td>
                    <td class="wide-only">
                      <code>{delivery.event_id}</code>
                    </td>
                    <td>
                      <Time isBrief at={delivery.created_at * 1_000} />
                    </td>
                  </tr>,
                  isOpen && (
                    <tr key={`${delivery.id} details`} class="delivery-row">
                      <td colSpan={5}>
                        <DeliveryDetails
                          scope={scope}
                          endpoint={endpoint}
                          delivery={delivery}
                          onResent={() => (resends.value += 1)}
                        />
                      </td>
                    </tr>
                  ),
                ];
              })}
            </tbody>
          </table>
        </ScrollRegion>
      )}
      {page !== undefined && page.total > limit.value && (
        <div>
          <Button small onClick={() => (limit.value += pageSize)}>
            Show more ({formatCount(page.total - limit.value)})
          </Button>
        </div>
      )}
    </section>
  );
}

const tones = { open: 'accent', delivered: 'success', given_up: 'danger' } as const;
const labels = { open: 'Open', delivered: 'Delivered', given_up: 'Given up' } as const;

function DeliveryState({ delivery: { state, tries } }: { delivery: EventDelivery }) {
  if (state === 'open' && tries > 0) return <Badge tone="warning">Retrying</Badge>;
  return <Badge tone={tones[state]}>{labels[state]}</Badge>;
}
