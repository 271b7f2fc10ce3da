import type { ChannelReport } from '../../channels/channel-report.ts';
import type { WorkerPlace } from '../../http/gateway.ts';
import type { Metric } from '../../telemetry/exposition.ts';

/** Command line argument of a worker process. */
export const workerArgument = 'worker';

/** The serializable part of a worker's place, and its number from 1. */
export type WorkerAssignment = Omit<WorkerPlace, 'siblings'> & { number: number };

/** The methods of the primary that a worker calls. */
export type PrimaryMethods = {
  getAssignment: { params: undefined; result: WorkerAssignment };
  /** Reports that the worker serves at this address. */
  reportServing: { params: string; result: void };
  /** Reports why the worker cannot start, as a message for the operator. */
  reportStartFailure: { params: string; result: void };
  isAnotherReady: { params: undefined; result: boolean };
  reloadOthers: { params: undefined; result: void };
  listOtherChannels: { params: undefined; result: readonly (readonly ChannelReport[])[] };
};

/** The methods of a worker that the primary calls. */
export type WorkerMethods = {
  stop: { params: undefined; result: void };
  reload: { params: undefined; result: void };
  ping: { params: undefined; result: void };
  /** Returns why the worker is not ready. Undefined if it is ready. */
  getUnreadyReason: { params: undefined; result: string | undefined };
  collectMetrics: { params: undefined; result: readonly Metric[] };
  listChannels: { params: undefined; result: readonly ChannelReport[] };
};
