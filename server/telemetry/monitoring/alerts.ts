import { stringify } from 'yaml';
import {
  channelHealthy,
  configurationInfo,
  connectionsPending,
  deliveriesClosed,
  deliveryLag,
  eventLoopUtilization,
  lastReloadSuccessful,
  pollLag,
  quotaDebt,
  serverRequestDuration,
  storeDuration,
  uptime,
} from '../metrics.ts';
import { job, nameOf, rate5m, selector } from './query.ts';

/** An alert rule of Prometheus. */
interface Alert {
  name: string;
  expr: string;
  /** How long the expression must hold, such as `5m`. */
  for: string;
  severity: 'critical' | 'warning';
  summary: string;
  /** Steps for the operator. Templates such as `{{ $labels.instance }}` are replaced. */
  description: string;
}

const errors = rate5m(serverRequestDuration, 'http_response_status_code=~"5.."');
const requests = rate5m(serverRequestDuration);

export const alerts: readonly Alert[] = [
  {
    name: 'UnigateDown',
    expr: `up${selector()} == 0`,
    for: '1m',
    severity: 'critical',
    summary: 'A gateway does not respond.',
    description:
      'Prometheus cannot scrape {{ $labels.instance }}. Check whether the process runs, and its log.',
  },
  {
    name: 'UnigateErrors',
    expr: `sum(${errors}) / sum(${requests}) > 0.05`,
    for: '5m',
    severity: 'critical',
    summary: 'More than 5 % of all requests end with a status of 5xx.',
    description:
      '{{ $value | humanizePercentage }} of all requests fail. Compare the channels, the store and the log at level error.',
  },
  {
    name: 'UnigateChannelUnhealthy',
    expr: `min by (unigate_channel) (${nameOf(channelHealthy)}${selector()}) == 0`,
    for: '5m',
    severity: 'warning',
    summary: 'A channel is in cool-down.',
    description:
      'The channel {{ $labels.unigate_channel }} fails. `GET /api/admin/channels` lists its failures by kind, and `POST /api/admin/channels/{name}/test` makes a test call.',
  },
  {
    name: 'UnigateAllChannelsUnhealthy',
    expr: `max(${nameOf(channelHealthy)}${selector()}) == 0`,
    for: '1m',
    severity: 'critical',
    summary: 'Every channel is in cool-down.',
    description: 'No provider can be reached. Check the network and the keys of the channels.',
  },
  {
    name: 'UnigateConfigurationNotApplied',
    expr: `${nameOf(lastReloadSuccessful)}${selector()} == 0`,
    for: '1m',
    severity: 'warning',
    summary: 'The last reload of the configuration failed.',
    description:
      '{{ $labels.instance }} still uses the previous configuration. Its log names the file and the line of the error.',
  },
  {
    name: 'UnigateConfigurationsDiffer',
    expr: `count(count by (unigate_configuration_revision) (${nameOf(configurationInfo)}${selector()})) > 1`,
    for: '15m',
    severity: 'warning',
    summary: 'The gateways use different configurations.',
    description:
      '{{ $value }} revisions are active. Reload the gateways whose `unigate_configuration_info` has the older one.',
  },
  {
    name: 'UnigateStoreFailing',
    expr: `sum(${rate5m(storeDuration, 'error_type!=""')}) / sum(${rate5m(storeDuration)}) > 0.01`,
    for: '2m',
    severity: 'critical',
    summary: 'More than 1 % of all store commands fail.',
    description: 'Check PostgreSQL, or the disk of the SQLite database. Calls get 503 meanwhile.',
  },
  {
    name: 'UnigateConnectionsExhausted',
    expr: `min_over_time(${nameOf(connectionsPending)}${selector()}[5m]) > 0`,
    for: '5m',
    severity: 'warning',
    summary: 'Requests wait for a connection to PostgreSQL.',
    description:
      'The pool {{ $labels.db_client_connection_pool_name }} of {{ $labels.instance }} is exhausted. Raise `database.connections`, or find the slow statements.',
  },
  {
    name: 'UnigateTasksNotPolled',
    expr: `max(${nameOf(pollLag)}${selector()}) > 60`,
    for: '5m',
    severity: 'critical',
    summary: 'Tasks wait for their poll for more than a minute.',
    description:
      'The oldest due task waits for {{ $value | humanizeDuration }}. Add gateways, or check the store.',
  },
  {
    name: 'UnigateCallbacksLate',
    expr: `max(${nameOf(deliveryLag)}${selector()}) > 300`,
    for: '10m',
    severity: 'warning',
    summary: 'Callbacks wait for their delivery attempt for more than 5 minutes.',
    description:
      'The oldest due callback waits for {{ $value | humanizeDuration }}. `GET /api/admin/deliveries` shows whether one user causes the backlog.',
  },
  {
    name: 'UnigateCallbacksAbandoned',
    expr: `sum(increase(${nameOf(deliveriesClosed)}${selector('unigate_delivery_outcome="given_up"')}[1h])) > 0`,
    for: '0m',
    severity: 'warning',
    summary: 'Callbacks were abandoned after their last attempt.',
    description: '`GET /api/admin/deliveries?state=given_up` lists them, and `…/resend` sends one again.',
  },
  {
    name: 'UnigateQuotaDebt',
    expr: `sum(increase(${nameOf(quotaDebt)}${selector()}[1h])) > 0`,
    for: '0m',
    severity: 'warning',
    summary: 'Calls cost more than the quota of their keys.',
    description: 'Debts of {{ $value | humanize }} were recorded in the last hour.',
  },
  {
    name: 'UnigateProcessBusy',
    expr: `avg_over_time(${nameOf(eventLoopUtilization)}${selector()}[5m]) > 0.9`,
    for: '10m',
    severity: 'warning',
    summary: 'The event loop of a gateway is almost always busy.',
    description: '{{ $labels.instance }} has no reserve. Add workers or gateways.',
  },
  {
    name: 'UnigateRestarting',
    expr: `resets(${nameOf(uptime)}${selector()}[30m]) > 2`,
    for: '0m',
    severity: 'critical',
    summary: 'A gateway restarts again and again.',
    description: '{{ $labels.instance }} restarted {{ $value }} times in 30 minutes. Its log has the reason.',
  },
];

/** Returns the rule file of Prometheus. */
export function alertRules(): string {
  const rules = alerts.map(({ name, expr, severity, summary, description, ...rule }) => ({
    alert: name,
    expr,
    for: rule.for,
    labels: { severity },
    annotations: { summary, description },
  }));
  const text = stringify({ groups: [{ name: job, rules }] }, { lineWidth: 0 });
  return `# Generated by \`npm run generate\` from server/telemetry/monitoring/alerts.ts.\n${text}`;
}
