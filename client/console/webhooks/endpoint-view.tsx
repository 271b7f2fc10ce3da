import { useSignal } from '@preact/signals';
import { Pencil, RefreshCw, Send, Trash2, WebhookOff } from 'lucide';
import type { Endpoint, EndpointWithSecret } from '../../index.ts';
import { useLastResult, useLoaded, useRun } from '../calls/run.ts';
import { BackLink } from '../parts/back-link.tsx';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Badge, ErrorNotice } from '../parts/notices.tsx';
import { Time } from '../parts/numbers.tsx';
import { Quota } from '../parts/quota.tsx';
import { useClient } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import { addressOf, navigate } from '../shell/router.ts';
import { Deliveries } from './deliveries.tsx';
import { endpointsOf, type Scope } from './endpoint-calls.ts';
import { EndpointDialog } from './endpoint-dialog.tsx';
import { EndpointState } from './endpoint-list.tsx';
import { EndpointSecret } from './endpoint-secret.tsx';
import { mayEdit } from './may-edit.ts';
import { RotateSecret } from './rotate-secret.tsx';

type Open = 'edit' | 'rotate' | 'delete' | EndpointWithSecret;

/** An endpoint with its deliveries. */
export function EndpointView({ scope, id }: { scope: Scope; id: number }) {
  const client = useClient();
  const calls = endpointsOf(client, scope);
  const open = useSignal<Open | undefined>(undefined);
  const reloads = useSignal(0);
  /** Number of test events, each of which is a new delivery. */
  const tests = useSignal(0);
  const change = useRun<void>();
  const run = useLoaded((signal) => calls.retrieve(id, { signal }), reloads.value);
  const state = run.state.value;
  const endpoint = useLastResult(run);
  const list = ['webhooks', { scope: scope === 'operator' ? scope : undefined }] as const;
  const close = () => (open.value = undefined);
  const reload = () => {
    close();
    reloads.value += 1;
  };
  const sendTest = async (signal: AbortSignal) => {
    await calls.test(id, { signal });
    tests.value += 1;
  };
  const current = open.value;
  const isBusy = change.state.value.status === 'running';
  return (
    <div class="stack">
      <BackLink href={addressOf(...list)}>Webhooks</BackLink>
      <PageHead title={endpoint?.url ?? 'Endpoint'}>{endpoint?.description}</PageHead>
      {state.status === 'failed' && <ErrorNotice error={state.error} />}
      {change.state.value.status === 'failed' && <ErrorNotice error={change.state.value.error} />}
      {endpoint && (
        <>
          {mayEdit(scope) && (
            <div class="row">
              <Button
                variant="primary"
                icon={Send}
                disabled={endpoint.disabled}
                busy={isBusy}
                onClick={() => void change.start(sendTest)}
              >
                Send test event
              </Button>
              <Button icon={Pencil} onClick={() => (open.value = 'edit')}>
                Change
              </Button>
              <Button icon={RefreshCw} onClick={() => (open.value = 'rotate')}>
                Rotate secret
              </Button>
              <Button
                icon={WebhookOff}
                disabled={isBusy}
                onClick={() =>
                  void change.start(async (signal) => {
                    await calls.update(id, { disabled: !endpoint.disabled }, { signal });
                    reload();
                  })
                }
              >
                {endpoint.disabled ? 'Enable' : 'Disable'}
              </Button>
              <Button variant="danger" icon={Trash2} onClick={() => (open.value = 'delete')}>
                Delete
              </Button>
            </div>
          )}
          <Facts endpoint={endpoint} />
          <Deliveries scope={scope} endpoint={endpoint} refreshKey={tests.value} />
        </>
      )}
      {current === 'edit' && endpoint && (
        <EndpointDialog scope={scope} endpoint={endpoint} onClose={close} onSaved={reload} />
      )}
      {current === 'rotate' && (
        <RotateSecret scope={scope} id={id} onClose={close} onRotated={(rotated) => (open.value = rotated)} />
      )}
      {typeof current === 'object' && (
        <EndpointSecret title="Secret rotated" endpoint={current} onClose={reload} />
      )}
      {current === 'delete' && (
        <ConfirmDialog
          title="Delete the endpoint?"
          label="Delete endpoint"
          onClose={close}
          call={async (signal) => {
            await calls.delete(id, { signal });
            navigate(...list);
          }}
        >
          It receives no more events. Its deliveries are deleted, also those that are not completed.
        </ConfirmDialog>
      )}
    </div>
  );
}

function Facts({ endpoint }: { endpoint: Endpoint }) {
  const { events, quota_threshold: threshold, old_secret_expires_at: expiry, created_at: created } = endpoint;
  return (
    <dl class="card facts">
      <dt>State</dt>
      <dd>
        <EndpointState endpoint={endpoint} />
      </dd>
      <dt>Events</dt>
      <dd class="row">
        {events.map((event) => (
          <Badge key={event}>{event}</Badge>
        ))}
      </dd>
      {threshold !== null && (
        <>
          <dt>Threshold of quota.low</dt>
          <dd>
            <Quota amount={threshold} />
          </dd>
        </>
      )}
      <dt>Created</dt>
      <dd>
        <Time at={created * 1_000} />
      </dd>
      {expiry !== null && (
        <>
          <dt>Old secret</dt>
          <dd>
            also signs until <Time at={expiry * 1_000} />
          </dd>
        </>
      )}
    </dl>
  );
}
