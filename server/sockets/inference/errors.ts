import type { CodesByFamily } from '../../../generated/errors.ts';
import type { TaskFailed } from '../../../generated/events.ts';
import type { Channel } from '../../channels/channel.ts';
import { Failure } from '../../lib/failure.ts';
import { ProviderWords } from '../../providers/provider-words.ts';
import { aboutOurAccount, blamesClient, isThrottling } from '../../providers/rejection.ts';
import { StoreUnavailable } from '../../store/availability.ts';
import { inner, type JsonObject } from '../frames.ts';

/** Why a task failed, the close code that follows, and the status in the log. */
export interface TaskFailure<Code extends string = string> {
  /** One of ours, or the provider's. */
  code: Code;
  message: string;
  close: 1000 | 1001 | 1003 | 1007 | 1008 | 1011 | 1013;
  status: number;
  reason?: string;
}

type OwnFailure = TaskFailure<CodesByFamily['inference']>;

export const invalidParameter = (message: string): OwnFailure => ({
  code: 'InvalidParameter',
  message,
  close: 1007,
  status: 400,
});

export const outOfOrder = (message: string): OwnFailure => ({
  code: 'CLIENT_ERROR',
  message,
  close: 1000,
  status: 400,
});

export const noText: OwnFailure = {
  ...outOfOrder('No text came for 23 seconds.'),
  status: 408,
  reason: 'timeout',
};

export const clientStalled: OwnFailure = {
  ...outOfOrder('What was sent to this client was not read for too long.'),
  close: 1008,
  status: 408,
  reason: 'too slow',
};

export const providerFailed = (message: string, status = 502): OwnFailure => ({
  code: 'InternalError',
  message,
  close: 1011,
  status,
});

export const restarting: OwnFailure = {
  code: 'ServiceRestarting',
  message: 'The gateway is going down; connect again.',
  close: 1001,
  status: 503,
};

const throttled: OwnFailure = {
  code: 'Throttling.RateQuota',
  message: 'The provider takes no more requests now.',
  close: 1013,
  status: 429,
};

/** What a failure of the core means for the task. */
export function taskFailureFrom(error: unknown): OwnFailure {
  if (!(error instanceof Failure)) return providerFailed('The gateway failed.', 500);
  const { status, message } = error;
  if (error instanceof StoreUnavailable) return { code: 'ServiceUnavailable', message, close: 1013, status };
  if (status === 400) return invalidParameter(message);
  if (status === 401) return { code: 'InvalidApiKey', message, close: 1008, status };
  // 404: the model has lost its price since the handshake.
  if (status === 403 || status === 404) return { code: 'AccessDenied', message, close: 1008, status };
  if (status === 429) return { ...throttled, message };
  return providerFailed(message, status);
}

/** Characters of each of a provider's words. */
const maxMessageLength = 500;

/** What the provider's `task-failed` means for the client: its code, and its words where they are fit. */
export function readTaskFailed(frame: JsonObject, channel: Channel): TaskFailure {
  const { error_code: reported, error_message: said } = inner(frame, 'header');
  const words = new ProviderWords(channel);
  const code = typeof reported === 'string' ? words.code(reported) : '';
  if (code === '' || aboutOurAccount(code)) return providerFailed('The provider failed to handle the task.');
  if (isThrottling(code)) return { ...throttled, code };
  const blamed = blamesClient(code);
  if (!blamed && code !== 'CLIENT_ERROR')
    return { ...providerFailed('The provider failed to handle the task.'), code };
  const sentence = typeof said === 'string' ? words.text(said, maxMessageLength) : '';
  const message = sentence || 'The provider refused the task.';
  return { ...(blamed ? invalidParameter(message) : outOfOrder(message)), code };
}

/** A `task-failed` frame as the gateway writes it. */
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
