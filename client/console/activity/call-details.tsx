import type { LogItem } from '../../index.ts';
import { SandboxBadge } from '../calls/cost.tsx';
import { useLoaded } from '../calls/run.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { formatDuration, formatUnits, Time } from '../parts/numbers.tsx';
import { isAdmin, useClient } from '../session/session.ts';
import { State } from './activity-table.tsx';
import { Charge, PricedFigures } from './charge.tsx';
import { NotLogged } from './not-logged.tsx';
import { rowOfEntry } from './row.ts';

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
      {state.status === 'done' && state.result.length === 0 && <NotLogged requestId={requestId} />}
      {state.status === 'done' && state.result.map((entry) => <Entry key={entry.id} entry={entry} />)}
      {isAdmin.value && <OperatorFacts requestId={requestId} />}
    </>
  );
}

function Entry({ entry }: { entry: LogItem }) {
  const { group_ratio: groupRatio = 1, quota, refunded, debt } = entry;
  const { prompt_tokens: input, completion_tokens: output, unit = 'units' } = entry;
  const { startedAt, durationMs } = rowOfEntry(entry);
  const unitPrice = entry.unit_price ?? 0;
  return (
    <section class="stack">
      <dl class="facts">
        <dt>State</dt>
        <dd>
          <State state={entry.state ?? 'completed'} /> {entry.sandbox && <SandboxBadge />}
        </dd>
        <dt>Model</dt>
        <dd>{entry.model_name}</dd>
        <dt>Key</dt>
        <dd>{entry.token_name}</dd>
        <dt>Started</dt>
        <dd>
          <Time at={startedAt} />
        </dd>
        {durationMs !== undefined && (
          <>
            <dt>Duration</dt>
            <dd class="numeric">{formatDuration(durationMs)}</dd>
          </>
        )}
        <dt>Usage</dt>
        <dd class="numeric">
          {output > 0
            ? `${formatUnits(input, 'input tokens')}, ${formatUnits(output, 'output tokens')}`
            : formatUnits(input, unit)}
        </dd>
      </dl>
      <h3>Cost</h3>
      {entry.price_rule && <PricedFigures rule={entry.price_rule} />}
      <Charge
        units={unitPrice > 0 && groupRatio > 0 ? (quota + (debt ?? 0)) / unitPrice / groupRatio : undefined}
        unit={unit}
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
        <dt>Channel</dt>
        <dd>{entry.channel || '–'}</dd>
        <dt>Usage</dt>
        <dd class="numeric">{formatUnits(entry.units, entry.unit)}</dd>
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
