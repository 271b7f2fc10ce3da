import type { OperationId } from '../../generated/operations.ts';
import { logFields, type TelemetryContext } from '../telemetry/telemetry-context.ts';
import type { Gateway } from './gateway.ts';

/** A finished request or socket. */
export interface FinishedCall {
  readonly context: TelemetryContext;
  /** Undefined: the path is unknown. */
  readonly operation: OperationId | undefined;
  /** Undefined: the key was not valid, or the operation needs none. */
  readonly keyId: number | undefined;
  readonly method: string;
  /** Template of the path, as in the contract. Empty: the path is unknown. */
  readonly route: string;
  /** 499: the client disconnected before the response. */
  readonly status: number;
  /** Bytes written to the connection, with headers and frames. */
  readonly bytes: number;
  /** Start by `performance.now()`. */
  readonly began: number;
  /** Whether the connection closed before the response or the session was complete. */
  readonly aborted: boolean;
}

/** Operations that load balancers and monitoring call every few seconds. */
const probes: ReadonlySet<OperationId> = new Set(['getHealth', 'getReadiness']);

/** Writes a line of the access log: at `info`, or at `debug` for probes and with `access_log: false`. */
export function logAccess(
  { logger, settings }: Pick<Gateway, 'logger' | 'settings'>,
  message: 'request completed' | 'socket closed',
  { context, operation, keyId, method, route, status, bytes, began, aborted }: FinishedCall,
): void {
  const isProbe = operation !== undefined && probes.has(operation);
  const level = settings.accessLog && !isProbe ? 'info' : 'debug';
  if (!logger.isLevelEnabled(level)) return;
  logger[level](
    {
      ...logFields(context),
      key_id: keyId,
      method,
      route: route === '' ? undefined : route,
      operation,
      status,
      bytes,
      ms: Math.round(performance.now() - began),
      aborted,
    },
    message,
  );
}
