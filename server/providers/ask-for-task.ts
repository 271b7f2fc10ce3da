import type { UpstreamRequest } from '../channels/channel.ts';
import { readRetryAfter } from '../channels/retry-after.ts';
import { Failure, ProviderFailure, type TaskError } from '../lib/failure.ts';
import { DriverError, refusedBy, type Snapshot, type Upstream } from '../tasks/driver.ts';
import { ProviderWords } from './provider-words.ts';
import { providerFailure, type Rejection, readRejection, readUpTo, rejectionFailure } from './rejection.ts';

/** Longest answer about a task. */
const maxBytes = 4 * 1024 * 1024;

/** A provider's refusal of a task, in its own words, for the routes that pass those on unchanged. */
export class ProviderRefusal extends ProviderFailure {
  readonly rejection: Rejection;

  constructor(rejection: Rejection) {
    const { status, code, message, retryAfter } = rejectionFailure(rejection);
    super(status, code, message, { retryAfter });
    this.rejection = rejection;
  }
}

/**
 * Asks an upstream about a task and reads its JSON answer; undefined when that is empty, as some are.
 *
 * @throws DriverError for every other answer: `rejected` with a `ProviderRefusal` when it is about the request
 */
export async function askForTask(
  { channel, user, signal }: Upstream,
  request: Omit<UpstreamRequest, 'user' | 'signal'>,
): Promise<unknown> {
  const response = await channel.request({ poll: request.method === 'GET', ...request, user, signal });
  const { status, body } = response;
  if (status < 200 || status > 299) {
    const words = new ProviderWords(channel, request.body);
    const failure = await readRejection(response, words).then(asRefusal, asFailure);
    throw refusedBy(status, failure, readRetryAfter(response.headers));
  }
  const bytes = await readUpTo(body, maxBytes);
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw badAnswer();
  }
}

/**
 * Polls a task, at its path or in another way, and has the answer read. A task that is not found has failed; any other refusal says
 * nothing of it: it is asked about again.
 *
 * @throws DriverError that is never `rejected`
 */
export async function pollForTask(
  upstream: Upstream,
  asked: string | Pick<UpstreamRequest, 'method' | 'path' | 'body'>,
  read: (answer: unknown) => Snapshot,
): Promise<Snapshot> {
  let answer: unknown;
  try {
    const request = typeof asked === 'string' ? { method: 'GET' as const, path: asked } : asked;
    answer = await askForTask(upstream, { ...request, poll: true });
  } catch (error) {
    if (!(error instanceof DriverError) || error.kind !== 'rejected') throw error;
    const { failure } = error;
    const status = failure instanceof ProviderRefusal ? failure.rejection.status : failure.status;
    if (status === 404 || status === 410 || failure.code === 'task_not_exist')
      return { state: 'failed', error: taskLost };
    // It may be about this task alone.
    throw new DriverError('unknown', failure);
  }
  return read(answer);
}

/** How a task ends that its provider knows no more. */
export const taskLost: TaskError = { code: 'task_lost', message: 'The provider knows the task no more.' };

/** The error for an answer that makes no sense: nobody knows what the upstream did. */
export function badAnswer(): DriverError {
  const failure = new Failure(502, 'bad_response', 'The provider gave an answer that makes no sense.');
  return new DriverError('unknown', failure, { fault: 'bad_answer' });
}

function asRefusal(rejection: Rejection): Failure {
  return rejection.code === undefined ? rejectionFailure(rejection) : new ProviderRefusal(rejection);
}

function asFailure(error: unknown): Failure {
  return error instanceof Failure ? error : providerFailure(502);
}
