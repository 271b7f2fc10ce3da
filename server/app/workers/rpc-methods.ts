import type { ChannelReport } from '../../channels/channel-report.ts';
import type { WorkerPlace } from '../../http/gateway.ts';
import type { Metric } from '../../telemetry/exposition.ts';

/** Command line argument of a worker process. */
export const workerArgument = 'worker';

/** The serializable part of a worker's place, and its number from 1. */
export type WorkerAssignment = Omit<WorkerPlace, 'siblings'> & { number: number };

/** The methods of the primary that a worker calls. */
export type PrimaryMethods = {
  getAssignment(): WorkerAssignment;
  reportServing(url: string): void;
  /** Reports why the worker cannot start, as a message for the operator. */
  reportStartFailure(reason: string): void;
  isAnotherReady(): boolean;
  reloadOthers(): void;
  endMaintenanceOfOthers(): void;
  /** Returns false if another worker has a conformance run. */
  acquireRun(): boolean;
  releaseRun(): void;
  listOtherChannels(): readonly (readonly ChannelReport[])[];
};

/** The methods of a worker that the primary calls. */
export type WorkerMethods = {
  stop(): void;
  reload(): void;
  endMaintenance(): void;
  ping(): void;
  /** Returns why the worker is not ready. Undefined if it is ready. */
  getUnreadyReason(): string | undefined;
  collectMetrics(): readonly Metric[];
  listChannels(): readonly ChannelReport[];
};
