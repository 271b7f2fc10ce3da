import { useSignal } from '@preact/signals';
import { Plus, Webhook } from 'lucide';
import type { Endpoint, EndpointWithSecret } from '../../index.ts';
import { useLastResult, useLoaded } from '../calls/run.ts';
import { Button } from '../parts/button.tsx';
import { Badge, EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { Time } from '../parts/numbers.tsx';
import { ScrollRegion } from '../parts/scroll-region.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { gatewayUrl, useClient } from '../session/session.ts';
import { addressOf, navigate } from '../shell/router.ts';
import { endpointsOf, type Scope } from './endpoint-calls.ts';
import { EndpointDialog } from './endpoint-dialog.tsx';
import { EndpointSecret } from './endpoint-secret.tsx';
import { mayEdit } from './may-edit.ts';

/** The endpoints of a scope. Each opens with its deliveries. */
export function EndpointList({ scope }: { scope: Scope }) {
  const client = useClient();
  const isCreating = useSignal(false);
  const created = useSignal<EndpointWithSecret | undefined>(undefined);
  const run = useLoaded((signal) => endpointsOf(client, scope).list({ signal }));
  const state = run.state.value;
  const items = useLastResult(run)?.items;
  const createButton = mayEdit(scope) && (
    <Button variant="primary" icon={Plus} onClick={() => (isCreating.value = true)}>
      Add endpoint
    </Button>
  );
  const addressOfEndpoint = ({ id }: Endpoint) =>
    ['webhooks', { scope: scope === 'operator' ? scope : undefined, endpoint: String(id) }] as const;
  return (
    <div class="stack">
      {state.status === 'failed' && <ErrorNotice error={state.error} />}
      {items === undefined && state.status !== 'failed' && <div class="skeleton webhooks-skeleton" />}
      {items?.length === 0 && (
        <EmptyState icon={Webhook} title="There is no endpoint yet.">
          <p>
            {scope === 'own'
              ? 'An endpoint receives an event when a balance is low, a budget is reached or a task is stuck.'
              : 'An endpoint receives an event when a channel fails, a balance is low or a task is stuck.'}{' '}
            <a href={`${gatewayUrl}/docs/webhooks#events`}>Events</a>
          </p>
          {createButton}
        </EmptyState>
      )}
      {items !== undefined && items.length > 0 && (
        <>
          {createButton && <div class="row webhooks-create">{createButton}</div>}
          <ScrollRegion label="Endpoints">
            <table class="table webhooks-table">
              <TableHead
                columns={[
                  'Endpoint',
                  'State',
                  { title: 'Events', class: 'wide-only' },
                  { title: 'Created', class: 'wide-only' },
                ]}
              />
              <tbody>
                {items.map((endpoint) => (
                  <tr key={endpoint.id}>
                    <td>
                      <a class="endpoint-url" href={addressOf(...addressOfEndpoint(endpoint))}>
                        {endpoint.url}
                      </a>
                      {endpoint.description && <div class="muted">{endpoint.description}</div>}
                    </td>
                    <td>
                      <EndpointState endpoint={endpoint} />
                    </td>
                    <td class="wide-only endpoint-events">{endpoint.events.join(', ')}</td>
                    <td class="wide-only secondary">
                      <Time isBrief at={endpoint.created_at * 1_000} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </ScrollRegion>
        </>
      )}
      {isCreating.value && (
        <EndpointDialog
          scope={scope}
          onClose={() => (isCreating.value = false)}
          onCreated={(endpoint) => {
            isCreating.value = false;
            created.value = endpoint;
          }}
        />
      )}
      {created.value !== undefined && (
        <EndpointSecret
          title="Endpoint created"
          endpoint={created.value}
          onClose={() => created.value && navigate(...addressOfEndpoint(created.value))}
        />
      )}
    </div>
  );
}

export function EndpointState({ endpoint: { disabled } }: { endpoint: Endpoint }) {
  return <Badge tone={disabled ? 'neutral' : 'success'}>{disabled ? 'Disabled' : 'Enabled'}</Badge>;
}
