import type { OperationId } from '../../generated/operations.ts';
import type { JsonObject } from '../../openapi/tools/document.ts';
import type { Repetition } from '../../server/calls/repetition.ts';
import { Failure } from '../../server/lib/failure.ts';
import type { MockTask } from './task-kinds.ts';

/** A request that may repeat an earlier one. */
export interface RepeatableRequest extends Repetition {
  operation: OperationId;
  body: JsonObject;
  /** Operations whose tasks have the same format share their idempotency keys. */
  format: string;
}

interface Attempt {
  readonly task: MockTask;
  readonly fingerprint: string;
  /** The highest retry count that the task has answered. */
  retryCount: number;
}

/** How long a task answers retries, as in the contract. */
const retriesMs = 10 * 60 * 1000;

/** The tasks of earlier requests, by idempotency key or retry count. */
export class RepeatedRequests {
  readonly #byKey = new Map<string, { task: MockTask; fingerprint: string }>();
  readonly #attempts: Attempt[] = [];

  /**
   * Finds the task of an earlier request that this one repeats.
   *
   * @throws Failure 400 if the idempotency key was used for another request
   */
  find(request: RepeatableRequest, now: number): MockTask | undefined {
    const fingerprint = fingerprintOf(request);
    if (request.idempotencyKey === undefined) return this.#answerRetry(fingerprint, request.retryCount, now);
    const earlier = this.#byKey.get(keyOf(request));
    if (earlier !== undefined && earlier.fingerprint !== fingerprint) throw idempotencyKeyReused();
    return earlier?.task;
  }

  /** Remembers the task of a request. */
  add(request: RepeatableRequest, task: MockTask): void {
    const fingerprint = fingerprintOf(request);
    const { idempotencyKey, retryCount } = request;
    if (idempotencyKey !== undefined) this.#byKey.set(keyOf(request), { task, fingerprint });
    else if (retryCount !== undefined) this.#attempts.unshift({ task, fingerprint, retryCount });
  }

  /** Returns the newest task of those with the highest value below `retryCount`. */
  #answerRetry(fingerprint: string, retryCount = 0, now: number): MockTask | undefined {
    const [found] = this.#attempts
      .filter((one) => one.fingerprint === fingerprint && one.retryCount < retryCount)
      .filter(({ task }) => now - task.createdAt < retriesMs)
      .toSorted((one, two) => two.retryCount - one.retryCount);
    if (found !== undefined) found.retryCount = retryCount;
    return found?.task;
  }
}

const fingerprintOf = ({ operation, body }: RepeatableRequest) => JSON.stringify([operation, body]);
const keyOf = ({ format, idempotencyKey }: RepeatableRequest) => `${format} ${idempotencyKey}`;

/** Returns the 400 of the gateway. */
function idempotencyKeyReused(): Failure {
  const message = 'Idempotency-Key: it was used for another request; use a new one for each request.';
  return new Failure(400, 'idempotency_key_reused', message);
}
