import type { Histogram } from '../instruments.ts';
import * as metrics from '../metrics.ts';
import { type Instrument, labelsOf, nameOf } from './query.ts';

interface Panel {
  title: string;
  description: string;
  /** Unit of Grafana. */
  unit: string;
  queries: readonly { expr: string; legend: string }[];
}

/** The rows of the dashboard. Each metric belongs to one. */
const sections: readonly { title: string; metrics: readonly Instrument[]; perInstance?: boolean }[] = [
  {
    title: 'Requests',
    metrics: [
      metrics.serverRequestDuration,
      metrics.serverActiveRequests,
      metrics.firstByteDuration,
      metrics.socketsActive,
      metrics.socketDuration,
    ],
  },
  {
    title: 'Providers',
    metrics: [
      metrics.upstreamDuration,
      metrics.channelHealthy,
      metrics.channelLimit,
      metrics.channelCalls,
      metrics.channelSpending,
      metrics.channelRefusals,
    ],
  },
  {
    title: 'Tasks and callbacks',
    metrics: [
      metrics.tasksOpen,
      metrics.taskQueueDepth,
      metrics.taskQueueDuration,
      metrics.pollLag,
      metrics.taskDuration,
      metrics.deliveryBacklog,
      metrics.deliveryLag,
      metrics.deliveryDuration,
      metrics.deliveriesClosed,
    ],
  },
  {
    title: 'Quota',
    metrics: [
      metrics.quotaReserved,
      metrics.quotaCharged,
      metrics.quotaRefunded,
      metrics.quotaCost,
      metrics.quotaDebt,
    ],
  },
  {
    title: 'Store',
    metrics: [
      metrics.storeDuration,
      metrics.commitSize,
      metrics.commitDuration,
      metrics.connectionCount,
      metrics.connectionMax,
      metrics.connectionsPending,
    ],
  },
  {
    title: 'Gateways',
    perInstance: true,
    metrics: [
      metrics.buildInfo,
      metrics.configurationInfo,
      metrics.reloads,
      metrics.lastReloadSuccessful,
      metrics.eventLoopUtilization,
      metrics.eventLoopDelay.p50,
      metrics.eventLoopDelay.p99,
      metrics.eventLoopDelay.max,
      metrics.memoryUsage,
      metrics.heapUsed,
      metrics.cpuTime,
      metrics.uptime,
    ],
  },
];

/** Labels that make too many series for one panel. */
const omittedLabels = new Set([
  'http_route',
  'http_request_method',
  'error_type',
  'server_address',
  'server_port',
]);

const units: Readonly<Record<string, string>> = { s: 's', By: 'bytes', '1': 'percentunit' };

const selector = '{job=~"$job",instance=~"$instance"}';

/** Returns the panels of a metric, by its kind. */
function panelsOf(instrument: Instrument, perInstance: boolean): Panel[] {
  const { descriptor, kind } = instrument;
  const name = nameOf(instrument);
  const labels = [
    ...(perInstance ? ['instance'] : []),
    ...labelsOf(instrument).filter((label) => !omittedLabels.has(label)),
  ];
  const legend = labels.map((label) => `{{${label}}}`).join(' ') || 'all';
  const panel = { title: name, description: descriptor.description };
  const unit = units[descriptor.unit] ?? 'short';
  if (instrument.kind === 'histogram') return histogramPanels(instrument, labels, legend);
  if (kind === 'counter') {
    const expr = `sum${by(labels)} (rate(${name}${selector}[$__rate_interval]))`;
    return [{ ...panel, unit: unit === 's' ? 'percentunit' : unit, queries: [{ expr, legend }] }];
  }
  const aggregation = descriptor.workerAggregation ?? 'sum';
  return [
    { ...panel, unit, queries: [{ expr: `${aggregation}${by(labels)} (${name}${selector})`, legend }] },
  ];
}

function histogramPanels(instrument: Histogram, labels: readonly string[], legend: string): Panel[] {
  const { description, unit } = instrument.descriptor;
  const name = nameOf(instrument);
  const rate = (suffix: string) => `rate(${name}_${suffix}${selector}[$__rate_interval])`;
  const quantiles = [0.5, 0.95, 0.99].map((quantile) => ({
    expr: `histogram_quantile(${quantile}, sum by (le) (${rate('bucket')}))`,
    legend: `p${quantile * 100}`,
  }));
  return [
    { title: name, description, unit: units[unit] ?? 'short', queries: quantiles },
    {
      title: `${name}, count`,
      description,
      unit: 'ops',
      queries: [{ expr: `sum${by(labels)} (${rate('count')})`, legend }],
    },
  ];
}

function by(labels: readonly string[]): string {
  return labels.length === 0 ? '' : ` by (${labels.join(', ')})`;
}

const requestCount = `${nameOf(metrics.serverRequestDuration)}_count`;
const rateOf = (matchers: string) =>
  `sum(rate(${requestCount}{job=~"$job",instance=~"$instance"${matchers}}[$__rate_interval]))`;

const overview: readonly Panel[] = [
  {
    title: 'Requests per second, by status',
    description: 'Finished requests of all operations.',
    unit: 'reqps',
    queries: [
      {
        expr: `sum by (http_response_status_code) (rate(${requestCount}${selector}[$__rate_interval]))`,
        legend: '{{http_response_status_code}}',
      },
    ],
  },
  {
    title: 'Failed requests',
    description: 'Fraction of the requests that end with a status of 5xx.',
    unit: 'percentunit',
    queries: [{ expr: `${rateOf(',http_response_status_code=~"5.."')} / ${rateOf('')}`, legend: 'failed' }],
  },
  {
    title: 'Firing alerts',
    description: 'Alerts of generated/monitoring/alerts.yaml.',
    unit: 'short',
    queries: [
      {
        expr: 'count by (alertname) (ALERTS{alertname=~"Unigate.+",alertstate="firing"})',
        legend: '{{alertname}}',
      },
    ],
  },
];

const columns = 3;
const panelSize = { w: 24 / columns, h: 8 };
const datasource = { type: 'prometheus', uid: '${datasource}' };

/** Returns the dashboard for Grafana 9 or later. */
export function dashboard(): object {
  const rows = [
    { title: 'Overview', panels: overview },
    ...sections.map(({ title, metrics: listed, perInstance = false }) => ({
      title,
      panels: listed.flatMap((instrument) => panelsOf(instrument, perInstance)),
    })),
  ];
  let id = 0;
  let y = 0;
  const panels = rows.flatMap(({ title, panels: ofRow }) => {
    const row = {
      id: ++id,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: 24, h: 1 },
      panels: [],
    };
    const top = y + 1;
    y = top + Math.ceil(ofRow.length / columns) * panelSize.h;
    return [
      row,
      ...ofRow.map((panel, index) => ({
        id: ++id,
        type: 'timeseries',
        title: panel.title,
        description: panel.description,
        datasource,
        fieldConfig: { defaults: { unit: panel.unit, min: 0 }, overrides: [] },
        options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
        gridPos: {
          ...panelSize,
          x: (index % columns) * panelSize.w,
          y: top + Math.floor(index / columns) * panelSize.h,
        },
        targets: panel.queries.map(({ expr, legend }, query) => ({
          refId: String.fromCharCode(65 + query),
          datasource,
          expr,
          legendFormat: legend,
        })),
      })),
    ];
  });
  return {
    uid: 'unigate',
    title: 'Unigate',
    tags: ['unigate'],
    schemaVersion: 37,
    editable: true,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [
        datasourceVariable,
        labelVariable('job', `label_values(${buildInfo}, job)`),
        labelVariable('instance', `label_values(${buildInfo}{job=~"$job"}, instance)`),
      ],
    },
    panels,
  };
}

const datasourceVariable = {
  name: 'datasource',
  type: 'datasource',
  query: 'prometheus',
  label: 'Data source',
};

const buildInfo = nameOf(metrics.buildInfo);

function labelVariable(label: string, query: string): object {
  return {
    name: label,
    label,
    type: 'query',
    datasource,
    query: { query, refId: label },
    refresh: 2,
    includeAll: true,
    multi: true,
    current: { text: 'All', value: '$__all' },
  };
}
