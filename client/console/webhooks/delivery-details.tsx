import { Send } from 'lucide';
import type { Callback, Endpoint, EventDelivery, Unigate } from '../../index.ts';
import { Code } from '../calls/call-panel.tsx';
import { useLoaded, useRun } from '../calls/run.ts';
import { Button } from '../parts/button.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { formatCount, Time } from '../parts/numbers.tsx';
import { rights, useClient } from '../session/session.ts';
import { endpointsOf, type Scope } from './endpoint-calls.ts';
import { mayEdit } from './may-edit.ts';
import { responseOf } from './response.ts';

/** Callbacks that are read to find the request of a delivery. */
const maxRead = 1_000;

interface DeliveryDetailsProps {
  scope: Scope;
  endpoint: Endpoint;
  delivery: EventDelivery;
  onResent: () => void;
}

/** The attempts, the request and the response of a delivery. */
export function DeliveryDetails({ scope, endpoint, delivery, onResent }: DeliveryDetailsProps) {
  const client = useClient();
  const resend = useRun<void>();
  const call = resend.state.value;
  const { last_try_at: lastTry, next_try_at: nextTry, tries, closed_at: closed } = delivery;
  const send = async (signal: AbortSignal) => {
    await endpointsOf(client, scope).resend(endpoint.id, delivery.id, { signal });
    onResent();
  };
  return (
    <div class="stack">
      <dl class="facts">
        <dt>Event id</dt>
        <dd>
          <code>{delivery.event_id}</code>
        </dd>
        <dt>Response</dt>
        <dd>{responseOf(delivery)}</dd>
        {lastTry !== null && (
          <>
            <dt>Last attempt</dt>
            <dd>
              <Time at={lastTry * 1_000} />
            </dd>
          </>
        )}
        {tries > 0 && (
          <>
            <dt>Failed attempts</dt>
            <dd class="numeric">{formatCount(tries)}</dd>
          </>
        )}
        {nextTry !== null && (
          <>
            <dt>Next attempt</dt>
            <dd>
              <Time at={nextTry * 1_000} />
            </dd>
          </>
        )}
        {delivery.state === 'given_up' && closed !== null && (
          <>
            <dt>Given up</dt>
            <dd>
              <Time at={closed * 1_000} />
            </dd>
          </>
        )}
      </dl>
      {rights.value.has('calls') && <Request endpoint={endpoint} delivery={delivery} />}
      {call.status === 'failed' && <ErrorNotice error={call.error} />}
      {mayEdit(scope) && (
        <div>
          <Button
            small
            icon={Send}
            disabled={endpoint.disabled}
            busy={call.status === 'running'}
            onClick={() => void resend.start(send)}
          >
            Send again
          </Button>
        </div>
      )}
    </div>
  );
}

/** The request as the next attempt would send it. */
function Request({ endpoint, delivery }: { endpoint: Endpoint; delivery: EventDelivery }) {
  const client = useClient();
  const state = useLoaded((signal) => findCallback(client, endpoint, delivery, signal), delivery.id).state
    .value;
  if (state.status === 'failed') return <ErrorNotice error={state.error} />;
  if (state.status !== 'done') return <div class="skeleton delivery-skeleton" />;
  if (state.result === undefined) return null;
  return <Code text={requestText(endpoint, state.result)} label="Request" />;
}

/** Returns the callback of a delivery, which has the body and the headers. Undefined if it is not among the newest. */
async function findCallback(
  { callbacks }: Unigate,
  { id }: Endpoint,
  delivery: EventDelivery,
  signal: AbortSignal,
): Promise<Callback | undefined> {
  let read = 0;
  for await (const callback of callbacks.list({ start: delivery.created_at, page_size: 100 }, { signal })) {
    read += 1;
    // Other endpoints receive the same event with another signature.
    if (callback.endpoint_id === id && eventIdOf(callback) === delivery.event_id) return callback;
    if (read >= maxRead) return undefined;
  }
  return undefined;
}

const eventIdOf = ({ body }: Callback) => (JSON.parse(body) as { id?: unknown }).id;

function requestText({ url }: Endpoint, { headers, body }: Callback): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${url}`, ...lines, '', JSON.stringify(JSON.parse(body), undefined, 2)].join('\n');
}
