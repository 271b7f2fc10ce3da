import type { ChannelReport } from '../../channels/channel-report.ts';
import type { WorkerPlace } from '../../http/gateway.ts';
import type { Metric } from '../../telemetry/exposition.ts';

/** Given to the process of a worker, so that it knows what it is. */
export const workerArgument = 'worker';

/** A worker's place as it is told. */
export type Orders = Omit<WorkerPlace, 'siblings'> & { number: number };

/** What a worker asks or tells the primary. */
export type ToPrimary = {
  begin: { ask: undefined; answer: Orders };
  /** It serves; its address. */
  serves: { ask: string; answer: void };
  /** It cannot; the reason, as an operator is told it. */
  cannot: { ask: string; answer: void };
  /** Whether any other worker is ready. */
  isAnotherReady: { ask: undefined; answer: boolean };
  reloadOthers: { ask: undefined; answer: void };
  othersChannels: { ask: undefined; answer: readonly (readonly ChannelReport[])[] };
};

/** What the primary asks a worker. */
export type ToWorker = {
  stop: { ask: undefined; answer: void };
  reload: { ask: undefined; answer: void };
  /** Nothing but whether it still answers. */
  alive: { ask: undefined; answer: void };
  /** What keeps it from being ready. */
  ready: { ask: undefined; answer: string | undefined };
  metrics: { ask: undefined; answer: readonly Metric[] };
  channels: { ask: undefined; answer: readonly ChannelReport[] };
};
