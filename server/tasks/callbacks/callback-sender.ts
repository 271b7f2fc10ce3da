import { createHmac } from 'node:crypto';
import type { Agent } from 'undici';
import { withinLimit } from '../../lib/timers.ts';
import { outboundAgent, PrivateAddressError } from '../../outbound/open-url.ts';
import type { DeliveryRecord } from '../../store/commands/deliveries.ts';
import { type AddressedEvent, findAddressedEvents } from '../../store/queries/endpoints.ts';
import { findTaskById, type TaskRecord } from '../../store/queries/tasks.ts';
import type { TaskState } from '../../store/schema.ts';
import type { CallbackRules, DeliveryEnvironment } from './environment.ts';

/**
 * - `delivered`: the receiver responded with 2xx in time.
 * - `refused`: another status, or an error code instead of a status.
 * - `pointless`: the task or endpoint was deleted, or the endpoint is disabled.
 */
interface SendResult {
  result: 'delivered' | 'refused' | 'pointless';
  /** Status or error code. Null without a request. */
  answer: number | string | null;
}

/** The state of a task that a delivery reports. */
export interface DeliveredState {
  taskId: string;
  state: TaskState;
  changedAt: number;
}

/** A signed request to a callback URL. */
export interface CallbackMessage {
  headers: { 'content-type': string; 'user-agent': string } & WebhookHeaders;
  body: string;
}

/** Sends one attempt of a delivery. */
export class CallbackSender {
  readonly #env: DeliveryEnvironment;
  #rules: CallbackRules;
  #agent: Agent;

  constructor(env: DeliveryEnvironment) {
    const { allowPrivate, secret } = env;
    this.#env = env;
    this.#rules = { allowPrivate, secret };
    this.#agent = outboundAgent({ allowPrivate });
  }

  /** Sets the rules of attempts that start from now on. */
  apply(rules: CallbackRules): void {
    const { allowPrivate } = rules;
    if (allowPrivate !== this.#rules.allowPrivate) {
      // Closes after its running requests.
      void this.#agent.close();
      this.#agent = outboundAgent({ allowPrivate });
    }
    this.#rules = rules;
  }

  /** Rejects only on a failure of the store or when the gateway stops. */
  async send(delivery: DeliveryRecord): Promise<SendResult> {
    const { url, message } = (await this.#addressed(delivery)) ?? {};
    if (url === undefined) return { result: 'pointless', answer: null };
    if (message === undefined) return { result: 'refused', answer: 'not rendered' };
    const answer = await this.#post(new URL(url), message);
    const isDelivered = typeof answer === 'number' && answer >= 200 && answer < 300;
    return { result: isDelivered ? 'delivered' : 'refused', answer };
  }

  /** Returns the signed request of an attempt that starts now. Undefined if the task cannot be rendered. */
  message(task: TaskRecord, delivery: DeliveredState): CallbackMessage | undefined {
    const body = this.#render(deliveredTask(task, delivery));
    if (body === undefined) return undefined;
    const webhook = webhookHeaders(messageId(delivery), this.#env.clock(), body, this.#rules.secret);
    return { headers: { 'content-type': 'application/json', 'user-agent': 'unigate', ...webhook }, body };
  }

  /** Returns the signed request of an attempt of an event that starts now. */
  eventMessage({ id, kind, data, createdAt, ...endpoint }: AddressedEvent): CallbackMessage {
    const now = this.#env.clock();
    const timestamp = new Date(createdAt).toISOString();
    const body = JSON.stringify({ id, type: kind, timestamp, data: JSON.parse(data) as unknown });
    const { secret, oldSecret, oldSecretUntil } = endpoint;
    const signsTwice = oldSecret !== null && oldSecretUntil !== null && oldSecretUntil > now;
    const secrets = signsTwice ? [secret, oldSecret] : [secret];
    const webhook = webhookHeaders(id.replace(/^event_/, 'msg_'), now, body, secrets);
    return { headers: { 'content-type': 'application/json', 'user-agent': 'unigate', ...webhook }, body };
  }

  /** Returns the address and the request of an attempt. Undefined without an address. */
  async #addressed({
    id,
    taskId,
    state,
    changedAt,
  }: DeliveryRecord): Promise<{ url: string; message: CallbackMessage | undefined } | undefined> {
    const { read } = this.#env.store;
    if (taskId !== null && state !== null) {
      const task = await findTaskById(read, taskId);
      if (task === undefined || task.callbackUrl === null) return undefined;
      return { url: task.callbackUrl, message: this.message(task, { taskId, state, changedAt }) };
    }
    const [event] = await findAddressedEvents(read, [id]);
    if (event === undefined || event.disabledAt !== null) return undefined;
    return { url: event.url, message: this.eventMessage(event) };
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #render(task: TaskRecord): string | undefined {
    try {
      return JSON.stringify(this.#env.render(task));
    } catch (error) {
      this.#env.logger.error({ err: error, task: task.id }, 'a task could not be rendered for its callback');
      return undefined;
    }
  }

  /** Returns the status, or an error code. Does not follow redirects. */
  async #post(url: URL, { headers, body }: CallbackMessage): Promise<number | string> {
    const { timers, timing, stopping } = this.#env;
    let status: number | undefined;
    try {
      await withinLimit(timers, timing.answerMs, stopping, async (signal) => {
        const response = await this.#agent.request({
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: 'POST',
          headers: { ...headers },
          body,
          signal,
        });
        status = response.statusCode;
        // Discards the body, so that the connection can be reused.
        await response.body.dump({ limit: 16_384, signal });
      });
    } catch (error) {
      if (status !== undefined) return status;
      stopping.throwIfAborted();
      return codeOf(error);
    }
    return status ?? 'no status';
  }
}

/** Longest chain of causes that is searched for an error code. */
const maxCauses = 5;

/** Returns a code of an error without its message, which may contain the address. */
function codeOf(error: unknown): string {
  let current = error;
  for (let depth = 0; depth < maxCauses && current instanceof Error; depth += 1) {
    if (current instanceof PrivateAddressError) return 'private address';
    const code = 'code' in current ? current.code : undefined;
    if (typeof code === 'string' && code !== '') return code;
    // Several addresses of one host may have failed with different errors.
    current = current instanceof AggregateError ? current.errors[0] : current.cause;
  }
  return error instanceof Error && error.name !== '' ? error.name : 'unknown';
}

/** Returns the task as it was when it reached the state of the delivery. */
function deliveredTask(task: TaskRecord, { state, changedAt }: DeliveredState): TaskRecord {
  if (state === 'completed' || state === 'failed') return task;
  return {
    ...task,
    state,
    progress: 0,
    result: null,
    error: null,
    startedAt: state === 'queued' ? null : changedAt,
    updatedAt: changedAt,
    completedAt: null,
    expiresAt: null,
    charged: null,
  };
}

/** Returns the id of a delivery, which is the same in every attempt. It contains only data that the receiver knows. */
export function messageId({ taskId, state }: Pick<DeliveredState, 'taskId' | 'state'>): string {
  return `${taskId.replace(/^task_/, 'msg_')}_${state}`;
}

/** Prefix of a secret that contains the Base64 of the key. */
const encodedPrefix = 'whsec_';

type WebhookHeaders = {
  'webhook-id': string;
  /** Unix time in seconds. */
  'webhook-timestamp': string;
  /** Separated by spaces. Absent without a secret. */
  'webhook-signature'?: string;
};

/**
 * Returns the headers of the Standard Webhooks convention. `at` is epoch milliseconds. Several secrets give several
 * signatures.
 */
export function webhookHeaders(
  id: string,
  at: number,
  body: string,
  secret: string | readonly string[] | undefined,
): WebhookHeaders {
  const timestamp = String(Math.floor(at / 1_000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === undefined) return headers;
  const signatures = [secret].flat().map((one) => {
    const key = one.startsWith(encodedPrefix) ? Buffer.from(one.slice(encodedPrefix.length), 'base64') : one;
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { ...headers, 'webhook-signature': signatures.join(' ') };
}
