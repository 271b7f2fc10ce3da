import type { Channel, UpstreamRequest } from '../channels/channel.ts';
import { failureKindOfResponse } from '../channels/refusals.ts';
import { readRetryAfter } from '../channels/retry-after.ts';
import { Failure, ProviderFailure, type TaskError } from '../lib/failure.ts';
import { parseJson } from '../lib/json.ts';
import {
  type AcceptedTask,
  DriverError,
  driverErrorForStatus,
  type Snapshot,
  type TaskDriver,
  type Upstream,
} from '../tasks/driver.ts';
import { ProviderRedactor } from './provider-redactor.ts';
import { providerFailure, type Rejection, readRejection, readUpTo, rejectionFailure } from './rejection.ts';
import { badResponse } from './unusable-response.ts';

const maxBytes = 4 * 1024 * 1024;

/** A provider's rejection of a task, for routes that forward the original body. */
export class ProviderRejection extends ProviderFailure {
  readonly rejection: Rejection;

  constructor(rejection: Rejection) {
    const { status, code, message, retryAfter } = rejectionFailure(rejection);
    super(status, code, message, { retryAfter });
    this.rejection = rejection;
  }
}

/**
 * Sends a task request and parses the JSON response. Undefined for an empty body. Throws DriverError for any other
 * response: `rejected` with a `ProviderRejection` if the request is the cause.
 */
export async function requestTask(
  { channel, user, signal }: Upstream,
  request: Omit<UpstreamRequest, 'user' | 'signal'>,
): Promise<unknown> {
  const response = await channel.request({ poll: request.method === 'GET', ...request, user, signal });
  const { status, body } = response;
  if (status < 200 || status > 299) {
    const failureKind = await failureKindOfResponse(response);
    const redactor = new ProviderRedactor(channel, request.body);
    const failure = await readRejection(response, redactor).then(toRejection, toFailure);
    const pauseSeconds = readRetryAfter(response.headers);
    throw driverErrorForStatus(status, failure, { pauseSeconds, failureKind });
  }
  const bytes = await readUpTo(body, maxBytes);
  if (bytes.length === 0) return undefined;
  const answer = parseJson(bytes);
  if (answer === undefined) throw invalidResponse();
  return answer;
}

/** Polls a task. After a rejection other than not found, its state is unknown. @throws DriverError, never `rejected` */
export async function pollTask(
  upstream: Upstream,
  target: string | Pick<UpstreamRequest, 'method' | 'path' | 'body'>,
  read: (answer: unknown) => Snapshot,
): Promise<Snapshot> {
  let answer: unknown;
  try {
    const request = typeof target === 'string' ? { method: 'GET' as const, path: target } : target;
    answer = await requestTask(upstream, { ...request, poll: true });
  } catch (error) {
    if (!(error instanceof DriverError) || error.kind !== 'rejected') throw error;
    if (isGone(error) || error.failure.code === 'task_not_exist') return { state: 'failed', error: taskLost };
    // The rejection may concern only this task.
    throw new DriverError('unknown', error.failure);
  }
  return read(answer);
}

interface TaskProtocol {
  createPath(request: object): string;
  createHeaders?: Readonly<Record<string, string>>;
  /** Reads the id in the response to a create call. */
  readId(answer: unknown): string | undefined;
  taskPath(task: AcceptedTask): string;
  readTask(answer: unknown, task: AcceptedTask, channel: Channel): Snapshot;
}

/** Creates the driver of a protocol with one call that creates a task and one that polls it. */
export function taskDriver(protocol: TaskProtocol): TaskDriver {
  return {
    async submit(task, request, upstream) {
      const body = { model: upstream.channel.upstreamModel(task.model), ...request };
      const path = protocol.createPath(request);
      const headers = protocol.createHeaders ?? {};
      const upstreamId = protocol.readId(
        await requestTask(upstream, { method: 'POST', path, headers, body }),
      );
      if (upstreamId === undefined) throw invalidResponse();
      return { upstreamId };
    },

    poll(task, upstream) {
      const read = (answer: unknown) => protocol.readTask(answer, task, upstream.channel);
      return pollTask(upstream, protocol.taskPath(task), read);
    },
  };
}

/** Whether the provider rejected a request because it no longer has the resource. */
export function isGone({ failure }: DriverError): boolean {
  const status = failure instanceof ProviderRejection ? failure.rejection.status : failure.status;
  return status === 404 || status === 410;
}

/** Keeps the state of a task after a response with an unknown state. */
export function unchanged({ state }: AcceptedTask): { state: 'queued' | 'in_progress' } {
  return { state: state === 'in_progress' ? 'in_progress' : 'queued' };
}

export const taskLost: TaskError = { code: 'task_lost', message: 'The provider no longer has the task.' };

/** Builds the error for a request that the provider rejects in a response with status 200. */
export function rejected(failure: Failure): DriverError {
  return new DriverError('rejected', failure);
}

/** Builds the error for an invalid response, after which the state of the upstream task is unknown. */
export function invalidResponse(): DriverError {
  const failure = badResponse('The provider returned an invalid response.');
  return new DriverError('unknown', failure, { failureKind: 'invalid_response' });
}

function toRejection(rejection: Rejection): Failure {
  return rejection.code === undefined ? rejectionFailure(rejection) : new ProviderRejection(rejection);
}

function toFailure(error: unknown): Failure {
  return error instanceof Failure ? error : providerFailure(502);
}
