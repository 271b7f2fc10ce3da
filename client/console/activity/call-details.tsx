import type { LogItem } from '../../index.ts';
import { useLoaded } from '../calls/run.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { formatDuration, Time } from '../parts/numbers.tsx';
import { isAdmin, useClient } from '../session/session.ts';
import { State } from './activity-table.tsx';
import { Charge } from './charge.tsx';

/** The entries of one request: usually one, several for a socket that ran several tasks. */
export function CallDetails({ requestId }: { requestId: string }) {
  const client = useClient();
  const run = useLoaded(async (signal) => {
    const { items } = await client.logs.search({ keyword: requestId, page_size: 100 }, { signal });
    return items.filter(({ request_id: id }) => id === requestId);
  }, requestId);
  const state = run.state.value;
  return (
    <>
      <h2>Call</h2>
      <p class="row">
        <code class="id">{requestId}</code>
        <CopyButton text={requestId} label="Copy the request id" />
      </p>
      {state.status === 'failed' && <ErrorNotice error={state.error} />}
      {state.status === 'done' && state.result.length === 0 && (
        <p class="notice">
          The request log has no entry with this id. The gateway writes it when the call ends.
        </p>
      )}
      {state.status === 'done' && state.result.map((entry) => <Entry key={entry.id} entry={entry} />)}
      {isAdmin.value && <OperatorFacts requestId={requestId} />}
    </>
  );
}

function Entry({ entry }: { entry: LogItem }) {
  const { unit_price: unitPrice = 0, group_ratio: groupRatio = 1, quota, refunded, debt } = entry;
  const { prompt_tokens: input, completion_tokens: output } = entry;
  return (
    <section class="stack">
      <dl class="facts">
        <dt>State</dt>
        <dd>
          <State state={entry.state ?? 'completed'} />
        </dd>
        <dt>Model</dt>
        <dd>{entry.model_name}</dd>
        <dt>Key</dt>
        <dd>{entry.token_name}</dd>
        <dt>Ended</dt>
        <dd>
          <Time at={entry.created_at * 1_000} />
        </dd>
        <dt>Usage</dt>
        <dd class="numeric">
          {output > 0 ? `${input} input tokens, ${output} output tokens` : `${input} input units`}
        </dd>
      </dl>
      <h3>Cost</h3>
      <Charge
        units={unitPrice > 0 && groupRatio > 0 ? (quota + (debt ?? 0)) / unitPrice / groupRatio : undefined}
        unitPrice={unitPrice}
        groupRatio={groupRatio}
        quota={quota}
        refunded={refunded ?? 0}
        debt={debt ?? 0}
      />
    </section>
  );
}

/** Facts that only operators see, and the calculation of the charge. */
function OperatorFacts({ requestId }: { requestId: string }) {
  const client = useClient();
  const state = useLoaded((signal) => client.admin.charges.explain(requestId, { signal }), requestId).state
    .value;
  if (state.status !== 'done') return null;
  const { entry, explanation } = state.result;
  return (
    <section class="stack">
      <h3>Operator</h3>
      <dl class="facts">
        <dt>Operation</dt>
        <dd>{entry.operation}</dd>
        <dt>Status</dt>
        <dd class="numeric">
          {entry.status}
          {entry.error_code && ` ${entry.error_code}`}
        </dd>
        <dt>Duration</dt>
        <dd class="numeric">{formatDuration(entry.duration_ms)}</dd>
        <dt>Channel</dt>
        <dd>{entry.channel || '–'}</dd>
        <dt>Usage</dt>
        <dd class="numeric">
          {entry.units} {entry.unit}
        </dd>
        <dt>Calculation</dt>
        <dd>
          {explanation.map((line) => (
            <div key={line}>{line}</div>
          ))}
        </dd>
      </dl>
    </section>
  );
}
