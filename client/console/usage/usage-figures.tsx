import { useSignal } from '@preact/signals';
import { ChartColumn } from 'lucide';
import { useMemo } from 'preact/hooks';
import type { Figures, FiguresQuery, UsageQuery } from '../../index.ts';
import { useLastResult, useLoaded } from '../calls/run.ts';
import { EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { formatCount, formatDuration, formatNumber } from '../parts/numbers.tsx';
import { display, Quota } from '../parts/quota.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { useClient } from '../session/session.ts';
import {
  type Dimension,
  type FigureItem,
  type Group,
  type Metric,
  metricsOf,
  type Names,
  nameOf,
  namesOf,
  type Range,
  type Report,
  stacksOf,
  timesOf,
} from './figures.ts';
import { UsageTable } from './usage-table.tsx';

interface UsageFiguresProps {
  range: Range;
  group: Group;
  showsAll: boolean;
  /** Id of the sub-account whose figures are shown. Undefined: those of the user with its sub-accounts. */
  account: number | undefined;
}

interface Loaded {
  /** The range and the grouping of the figures, which stay while others are loaded. */
  range: Range;
  group: Group;
  times: number[];
  /** By bucket and group, by group, and by bucket. */
  cells: Report;
  groups: Report;
  buckets: Report;
  names: Names;
  chart: typeof import('./usage-chart.tsx');
}

/** The chart and the tables of one range. */
export function UsageFigures({ range, group, showsAll, account }: UsageFiguresProps) {
  const client = useClient();
  const { bucket } = range;
  const run = useLoaded<Loaded>(
    async (signal) => {
      const times = timesOf(range, Date.now());
      const since = times[0] ?? 0;
      // The two operations have the same figures, and the groups of the page are those of its scope.
      const load = (...by: Dimension[]): Promise<Report> =>
        showsAll
          ? client.admin.figures({ by: by as FiguresQuery['by'] & object, since }, { signal })
          : client.me.usage({ by: by as UsageQuery['by'] & object, since, account_id: account }, { signal });
      // One after the other, because the gateway limits the reports that run at once.
      const cells = await load(bucket, group);
      const groups = await load(group);
      const buckets = await load(bucket);
      const names = await namesOf(client, group, showsAll, signal);
      const chart = await import('./usage-chart.tsx');
      return { range, group, times, cells, groups, buckets, names, chart };
    },
    `${range.label} ${group} ${showsAll} ${account ?? ''}`,
  );
  const state = run.state.value;
  const loaded = useLastResult(run);
  if (state.status === 'failed') return <ErrorNotice error={state.error} />;
  if (loaded === undefined) return <div class="skeleton usage-skeleton" />;
  const { sum, complete_until: completeUntil } = loaded.groups;
  if (sum.requests === 0 && completeUntil === null)
    return (
      <EmptyState icon={ChartColumn} title="No calls in this range.">
        <a href="#/">Make a call</a> or select a longer range.
      </EmptyState>
    );
  return <Results loaded={loaded} />;
}

function Results({ loaded }: { loaded: Loaded }) {
  const { range, group, groups, buckets, names, chart } = loaded;
  const { bucket } = range;
  const metricName = useSignal('Quota');
  const table = useSignal('group');
  const metrics = metricsOf(groups, display.value);
  const metric = metrics.find(({ name }) => name === metricName.value) ?? metrics[0];
  return (
    <>
      <Sums figures={groups.sum} />
      {groups.complete_until !== null && (
        <p class="field-hint">
          Calls since {chart.formatTime(groups.complete_until, 'hour', true)} are still being added.
        </p>
      )}
      {metric && (
        <section class="card">
          <Tabs
            label="Metric"
            names={metrics.map(({ name }) => name)}
            selected={metric.name}
            onSelect={(name) => (metricName.value = name)}
          >
            <Chart loaded={loaded} metric={metric} />
          </Tabs>
        </section>
      )}
      <Tabs
        label="Table"
        names={[`By ${group}`, `By ${bucket}`]}
        selected={table.value === 'group' ? `By ${group}` : `By ${bucket}`}
        onSelect={(name) => (table.value = name === `By ${group}` ? 'group' : 'bucket')}
      >
        <div class="usage-table">
          {table.value === 'group' ? (
            <UsageTable
              heading={group[0]?.toUpperCase() + group.slice(1)}
              items={groups.items}
              sum={groups.sum}
              nameOf={(item) => nameOf(item, group, names)}
            />
          ) : (
            <UsageTable
              heading={bucket === 'day' ? 'Day (UTC)' : 'Hour'}
              items={buckets.items.toReversed()}
              sum={buckets.sum}
              nameOf={(item) => chart.formatTime(item[bucket] ?? 0, bucket, true)}
            />
          )}
        </div>
      </Tabs>
    </>
  );
}

interface ChartProps {
  loaded: Loaded;
  metric: Metric;
}

function Chart({ loaded, metric }: ChartProps) {
  const { times, cells, names, chart, group } = loaded;
  const { bucket, label } = loaded.range;
  const stacks = useMemo(() => {
    const nameOfItem = (item: FigureItem) => nameOf(item, group, names);
    return stacksOf(cells.items, times, { bucket, metric, nameOfItem });
  }, [loaded, bucket, group, metric.name, metric.unit]);
  const Content = chart.default;
  return (
    <Content
      times={times}
      stacks={stacks}
      bucket={bucket}
      unit={metric.unit}
      format={metric.format}
      label={`${metric.name} per ${bucket} by ${group}. ${label}.`}
    />
  );
}

function Sums({ figures: { requests, errors, quota, latency } }: { figures: Figures['sum'] }) {
  const share = requests === 0 ? 0 : (errors / requests) * 100;
  return (
    <dl class="sums">
      <div class="card">
        <dt>Quota</dt>
        <dd>
          <Quota amount={quota} hasNoUnit />
        </dd>
      </div>
      <div class="card">
        <dt>Calls</dt>
        <dd>{formatCount(requests)}</dd>
      </div>
      <div class="card">
        <dt>Failures</dt>
        <dd>
          {formatCount(errors)} <small class="muted">{formatNumber(share)} %</small>
        </dd>
      </div>
      <div class="card">
        <dt>Median duration</dt>
        <dd>
          {formatDuration(latency.p50_ms)} <small class="muted">95 %: {formatDuration(latency.p95_ms)}</small>
        </dd>
      </div>
    </dl>
  );
}
