/** Input series of `promtool test rules`, one value a minute. */
interface AlertCase {
  /** By series without the label `job`: values in the notation of promtool. */
  series: Readonly<Record<string, string>>;
  /** Minute at which the alert fires. */
  firesAt: number;
  /** Minute at which it does not fire yet or any more. */
  silentAt: number;
}

const requests = 'http_server_request_duration_seconds_count';
const channel = (name: string) => `unigate_channel_healthy{unigate_channel="${name}"}`;

/** One case for each alert. */
export const alertCases: Readonly<Record<string, AlertCase>> = {
  UnigateDown: { series: { 'up{instance="a"}': '1x4 0x10' }, firesAt: 7, silentAt: 4 },
  UnigateErrors: {
    series: {
      [`${requests}{http_response_status_code="200"}`]: '0+90x40',
      [`${requests}{http_response_status_code="503"}`]: '0+1x20 20+10x20',
    },
    firesAt: 35,
    silentAt: 20,
  },
  UnigateChannelUnhealthy: {
    series: { [channel('one')]: '1x5 0x20', [channel('two')]: '1x30' },
    firesAt: 12,
    silentAt: 8,
  },
  UnigateAllChannelsUnhealthy: {
    series: { [channel('one')]: '0x30', [channel('two')]: '1x10 0x20' },
    firesAt: 14,
    silentAt: 9,
  },
  UnigateConfigurationNotApplied: {
    series: { 'unigate_configuration_last_reload_successful{instance="a"}': '1x5 0x5 1x10' },
    firesAt: 9,
    silentAt: 14,
  },
  UnigateConfigurationsDiffer: {
    series: {
      'unigate_configuration_info{instance="a",unigate_configuration_revision="1"}': '1x40',
      'unigate_configuration_info{instance="b",unigate_configuration_revision="2"}': '1x40',
    },
    firesAt: 16,
    silentAt: 10,
  },
  UnigateStoreFailing: {
    series: {
      'db_client_operation_duration_seconds_count{db_operation_name="a"}': '0+100x40',
      'db_client_operation_duration_seconds_count{db_operation_name="a",error_type="unavailable"}':
        '0x20 0+10x20',
    },
    firesAt: 30,
    silentAt: 20,
  },
  UnigateConnectionsExhausted: {
    series: {
      'db_client_connection_pending_requests{instance="a",db_client_connection_pool_name="calls"}':
        '0x10 3x20',
    },
    firesAt: 25,
    silentAt: 14,
  },
  UnigateTasksNotPolled: {
    series: { unigate_task_poll_lag_seconds: '0x5 90x20' },
    firesAt: 12,
    silentAt: 9,
  },
  UnigateCallbacksLate: {
    series: { unigate_delivery_lag_seconds: '0x5 400x30' },
    firesAt: 20,
    silentAt: 12,
  },
  UnigateCallbacksAbandoned: {
    series: { 'unigate_delivery_closed_total{unigate_delivery_outcome="given_up"}': '0x5 1x100' },
    firesAt: 10,
    silentAt: 80,
  },
  UnigateQuotaDebt: { series: { unigate_quota_debt_total: '5x5 25x100' }, firesAt: 10, silentAt: 80 },
  UnigateProcessBusy: {
    series: { 'nodejs_eventloop_utilization_ratio{instance="a"}': '0.95x5 0.1x10 0.99x30' },
    firesAt: 40,
    silentAt: 15,
  },
  UnigateRestarting: {
    series: { 'process_uptime_seconds{instance="a"}': '0+60x5 0+60x3 0+60x3 0+60x60' },
    firesAt: 15,
    silentAt: 60,
  },
};
