import type { CodesByFamily } from '../../../generated/errors.ts';
import type { TaskFailed } from '../../../generated/events.ts';
import type { Channel } from '../../channels/channel.ts';
import { isAccountError, isClientError } from '../../channels/failure-kinds.ts';
import { Failure } from '../../lib/failure.ts';
import { ProviderRedactor } from '../../providers/provider-redactor.ts';
import { isThrottling } from '../../providers/rejection.ts';
import { type JsonObject, objectField } from '../frames.ts';

/** The failure of a task, with the close code and its reason, and the status in the log. */
export interface TaskFailure<Code extends string = string> {
  code: Code;
  message: string;
  close: number;
  status: number;
  reason?: string;
}

type OwnCode = CodesByFamily['inference'];
type OwnFailure = TaskFailure<OwnCode>;

/** Close code and status of each error code of the gateway. */
const defaults: Readonly<Record<OwnCode, Pick<TaskFailure, 'close' | 'status'>>> = {
  InvalidParameter: { close: 1007, status: 400 },
  CLIENT_ERROR: { close: 1000, status: 400 },
  InvalidApiKey: { close: 1008, status: 401 },
  AccessDenied: { close: 1008, status: 403 },
  'Throttling.RateQuota': { close: 1013, status: 429 },
  InternalError: { close: 1011, status: 502 },
  ServiceRestarting: { close: 1001, status: 503 },
  ServiceUnavailable: { close: 1013, status: 503 },
};

const failure = (code: OwnCode, message: string, change: Partial<TaskFailure> = {}): OwnFailure => ({
  ...defaults[code],
  ...change,
  code,
  message,
});

export const invalidParameter = (message: string) => failure('InvalidParameter', message);
export const outOfOrder = (message: string) => failure('CLIENT_ERROR', message);
export const providerFailed = (message: string, status = 502) =>
  failure('InternalError', message, { status });
export const noText = failure('CLIENT_ERROR', 'The client sent no text for 23 seconds.', {
  status: 408,
  reason: 'timeout',
});
export const clientTooSlow = failure('CLIENT_ERROR', 'The client did not read its connection for too long.', {
  close: 1008,
  status: 408,
  reason: 'too slow',
});
export const restarting = failure('ServiceRestarting', 'The gateway is shutting down. Connect again.');
const throttled = failure('Throttling.RateQuota', 'The provider takes no more requests now.');

/** Returns the task failure for an error of the gateway. */
export function taskFailureFrom(error: unknown): OwnFailure {
  if (!(error instanceof Failure)) return providerFailed('The gateway failed.', 500);
  const { status, message } = error;
  if (status === 503) return failure('ServiceUnavailable', message);
  if (status === 400) return invalidParameter(message);
  if (status === 401) return failure('InvalidApiKey', message);
  // 404: the model has lost its price since the handshake.
  if (status === 403 || status === 404) return failure('AccessDenied', message, { status });
  return status === 429 ? { ...throttled, message } : providerFailed(message, status);
}

/** Characters of each text of a provider's error. */
const maxMessageLength = 500;

/** Returns the task failure for the provider's `task-failed`. Its message is kept if the client caused the failure. */
export function readTaskFailed(frame: JsonObject, channel: Channel): TaskFailure {
  const { error_code: reportedCode, error_message: reportedMessage } = objectField(frame, 'header');
  const redactor = new ProviderRedactor(channel);
  const code = typeof reportedCode === 'string' ? redactor.redactCode(reportedCode) : '';
  if (code === '' || isAccountError(code)) return providerFailed('The provider failed to handle the task.');
  if (isThrottling(code)) return { ...throttled, code };
  const isInvalidParameter = isClientError(code);
  if (!isInvalidParameter && code !== 'CLIENT_ERROR')
    return { ...providerFailed('The provider failed to handle the task.'), code };
  const text = typeof reportedMessage === 'string' ? redactor.redact(reportedMessage, maxMessageLength) : '';
  const message = text || 'The provider rejected the task.';
  return { ...(isInvalidParameter ? invalidParameter(message) : outOfOrder(message)), code };
}

/** Creates a `task-failed` frame of the gateway. */
export function taskFailedFrame(taskId: string, { code, message }: TaskFailure): string {
  const frame: TaskFailed = {
    header: {
      task_id: taskId,
      event: 'task-failed',
      error_code: code,
      error_message: message,
      attributes: {},
    },
    payload: {},
  };
  return JSON.stringify(frame);
}
