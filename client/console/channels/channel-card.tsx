import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { Channel, ChannelTest } from '../../index.ts';
import { useRun } from '../calls/run.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Badge, ErrorNotice } from '../parts/notices.tsx';
import { formatCount, formatDuration, Time } from '../parts/numbers.tsx';
import { useClient } from '../session/session.ts';

const tones = { healthy: 'success', resting: 'warning', probing: 'warning', disabled: 'danger' } as const;

const limitTitles = {
  requests_per_minute: 'Requests a minute',
  concurrent_calls: 'Concurrent calls',
  concurrent_tasks: 'Concurrent tasks',
  spend_per_day: 'Spent today',
} as const;

/** A channel with its health, its figures and the actions of an operator. */
export function ChannelCard({
  channel,
  onChange,
}: {
  channel: Channel;
  onChange: (channel: Channel) => void;
}) {
  const client = useClient();
  const isDisabling = useSignal(false);
  const test = useRun<ChannelTest>();
  const enable = useRun<void>();
  const { name, state, protocol, host, models, groups, priority, weight, disabled, figures } = channel;
  const failures = Object.entries(figures.failures).filter(([, count]) => count > 0);
  const failed = failures.reduce((sum, [, count]) => sum + count, 0);
  return (
    <article class="card stack">
      <div class="row-between">
        <div class="row">
          <h2>{name}</h2>
          <Badge tone={tones[state]}>{state}</Badge>
        </div>
        <div class="row">
          <Button
            small
            busy={test.state.value.status === 'running'}
            onClick={() => void test.start((signal) => client.admin.channels.test(name, { signal }))}
          >
            Test
          </Button>
          {state === 'disabled' ? (
            <Button
              small
              busy={enable.state.value.status === 'running'}
              onClick={() =>
                void enable.start(async (signal) =>
                  onChange(await client.admin.channels.enable(name, { signal })),
                )
              }
            >
              Enable
            </Button>
          ) : (
            <Button small onClick={() => (isDisabling.value = true)}>
              Disable
            </Button>
          )}
        </div>
      </div>
      {disabled && (
        <p class="notice notice-warning">
          <span>
            Disabled by {disabled.user_name} on <Time at={disabled.at * 1_000} />: {disabled.reason}
          </span>
        </p>
      )}
      {channel.resting_until !== null && (
        <p class="secondary">
          Other channels are used first until <Time at={channel.resting_until * 1_000} />.
          {channel.unhealthy_reason !== null && ` Kind of failure: ${channel.unhealthy_reason}.`}
        </p>
      )}
      <dl class="channel-figures">
        <Figure name="Requests" value={formatCount(figures.requests)} />
        <Figure name="In flight" value={formatCount(figures.in_flight)} />
        <Figure name="Waiting" value={formatCount(figures.waiting)} />
        <Figure name="Failures" value={formatCount(failed)} />
        <Figure name="Latency, median" value={latency(figures.latency_p50_ms)} />
        <Figure name="Latency, p95" value={latency(figures.latency_p95_ms)} />
        {channel.limits.map(({ limit, max, used }) => (
          <Figure
            key={limit}
            name={limitTitles[limit]}
            value={`${formatCount(used)} of ${formatCount(max)}`}
          />
        ))}
      </dl>
      {failures.length > 0 && (
        <p class="row">
          {failures.map(([kind, count]) => (
            <Badge key={kind} tone="danger">
              {kind} {formatCount(count)}
            </Badge>
          ))}
          {figures.last_failure && (
            <span class="muted">
              last: {figures.last_failure.kind}, <Time at={figures.last_failure.at * 1_000} />
            </span>
          )}
        </p>
      )}
      <TestResult run={test} />
      {enable.state.value.status === 'failed' && <ErrorNotice error={enable.state.value.error} />}
      <details>
        <summary class="secondary">Settings</summary>
        <dl class="facts channel-settings">
          <dt>Protocol</dt>
          <dd>{protocol}</dd>
          <dt>Host</dt>
          <dd class="mono">{host}</dd>
          <dt>Priority, weight</dt>
          <dd>
            {priority}, {weight}
          </dd>
          <dt>Groups</dt>
          <dd>{groups?.join(', ') ?? 'all'}</dd>
          <dt>Models</dt>
          <dd class="mono">{models.join(', ')}</dd>
        </dl>
      </details>
      {isDisabling.value && (
        <DisableDialog
          name={name}
          onClose={() => (isDisabling.value = false)}
          onDisabled={(changed) => {
            isDisabling.value = false;
            onChange(changed);
          }}
        />
      )}
    </article>
  );
}

const latency = (ms: number | null) => (ms === null ? 'none yet' : formatDuration(ms));

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt class="muted">{name}</dt>
      <dd class="numeric">{value}</dd>
    </div>
  );
}

function TestResult({ run }: { run: ReturnType<typeof useRun<ChannelTest>> }) {
  const state = run.state.value;
  if (state.status === 'failed') return <ErrorNotice error={state.error} />;
  if (state.status !== 'done') return null;
  const { ok, request, model, status, duration_ms: duration, problem } = state.result;
  const call = `${requests[request]}${model === null ? '' : ` with ${model}`}`;
  const response = status === null ? 'no response' : `status ${status}`;
  return (
    <p class="row" role="status">
      <Badge tone={ok ? 'success' : 'danger'}>{ok ? 'works' : 'failed'}</Badge>
      <span>
        {ok
          ? `The provider accepted the key and answered as expected: ${call}`
          : `The provider did not answer as expected: ${call}`}{' '}
        ({response}, {formatDuration(duration)}). {problem}
      </span>
    </p>
  );
}

/** The calls of a test, in words. */
const requests: Readonly<Record<ChannelTest['request'], string>> = {
  speech: 'a speech of two letters',
  embeddings: 'an embedding of one letter',
  count_tokens: 'a token count of one letter',
  query: 'a query for a resource that does not exist',
};

interface DisableDialogProps {
  name: string;
  onClose: () => void;
  onDisabled: (channel: Channel) => void;
}

/** Asks for the reason, which the list of changes shows. */
function DisableDialog({ name, onClose, onDisabled }: DisableDialogProps) {
  const client = useClient();
  const reason = useSignal('');
  const run = useRun<void>();
  const id = useId();
  const state = run.state.value;
  return (
    <Dialog title={`Disable ${name}`} onClose={onClose}>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          void run.start(async (signal) =>
            onDisabled(await client.admin.channels.disable(name, reason.value.trim(), { signal })),
          );
        }}
      >
        <p class="secondary">
          All gateways stop to use this channel. Work that has begun continues to its end.
        </p>
        <div class="field">
          <label class="field-label" for={id}>
            Reason
          </label>
          <input
            id={id}
            class="input"
            required
            maxLength={500}
            value={reason.value}
            onInput={(event) => (reason.value = event.currentTarget.value)}
          />
        </div>
        {state.status === 'failed' && <ErrorNotice error={state.error} />}
        <div class="row">
          <Button
            submit
            variant="danger"
            busy={state.status === 'running'}
            disabled={reason.value.trim() === ''}
          >
            Disable
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
