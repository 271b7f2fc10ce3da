import { createHmac } from 'node:crypto';
import type { Agent } from 'undici';
import { withinLimit } from '../../lib/timers.ts';
import { outboundAgent, PrivateAddressError } from '../../outbound/open-url.ts';
import type { DeliveryRecord } from '../../store/commands/deliveries.ts';
import { findTaskById, type TaskRecord } from '../../store/queries/tasks.ts';
import type { CallbackRules, DeliveryEnvironment } from './environment.ts';

/**
 * - `delivered`: a 2xx came in time.
 * - `refused`: another status came, or a code tells what came in between.
 * - `pointless`: its owner has removed the task.
 */
export type SendResult =
  | { result: 'delivered'; answer: number }
  | { result: 'refused'; answer: number | string }
  | { result: 'pointless'; answer: null };

/** Makes single tries. */
export class Sender {
  readonly #env: DeliveryEnvironment;
  #rules: CallbackRules;
  #agent: Agent;

  constructor(env: DeliveryEnvironment) {
    const { allowPrivate, secret } = env;
    this.#env = env;
    this.#rules = { allowPrivate, secret };
    this.#agent = outboundAgent({ allowPrivate });
  }

  /** The tries that begin from now on go by these. */
  apply(rules: CallbackRules): void {
    const before = { ...this.#rules, agent: this.#agent };
    this.#rules = rules;
    if (rules.allowPrivate === before.allowPrivate) return;
    this.#agent = outboundAgent({ allowPrivate: rules.allowPrivate });
    // Resolves when those under way have ended.
    void before.agent.close();
  }

  /** Rejects only when the store does, or the process stops. */
  async send(delivery: DeliveryRecord): Promise<SendResult> {
    const { store, clock } = this.#env;
    const task = await findTaskById(store.read, delivery.taskId);
    if (task === undefined || task.callbackUrl === null) return { result: 'pointless', answer: null };
    const body = this.#render(deliveredTask(task, delivery));
    if (body === undefined) return { result: 'refused', answer: 'not rendered' };
    const headers = webhookHeaders(messageId(delivery), clock(), body, this.#rules.secret);
    const answer = await this.#post(new URL(task.callbackUrl), headers, body);
    if (typeof answer === 'number' && answer >= 200 && answer < 300) return { result: 'delivered', answer };
    return { result: 'refused', answer };
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #render(task: TaskRecord): string | undefined {
    try {
      return JSON.stringify(this.#env.render(task));
    } catch (error) {
      this.#env.logger.error({ err: error, task: task.id }, 'a task could not be rendered for its receiver');
      return undefined;
    }
  }

  /** The status; else the code of what came in between. Redirects are not followed. */
  async #post(url: URL, headers: Record<string, string>, body: string): Promise<number | string> {
    const { timers, timing, stopping } = this.#env;
    let status: number | undefined;
    try {
      await withinLimit(timers, timing.answerMs, stopping, async (signal) => {
        const response = await this.#agent.request({
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: 'POST',
          headers: { 'content-type': 'application/json', 'user-agent': 'unigate', ...headers },
          body,
          signal,
        });
        status = response.statusCode;
        // Nobody reads it, but the connection can be used again after it.
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

/** Longest chain of causes that is searched for a code. */
const maxCauses = 5;

/** Names an error without its message, which may hold the address. */
function codeOf(error: unknown): string {
  let current = error;
  for (let depth = 0; depth < maxCauses && current instanceof Error; depth += 1) {
    if (current instanceof PrivateAddressError) return 'private address';
    const code = 'code' in current ? current.code : undefined;
    if (typeof code === 'string' && code !== '') return code;
    // Several addresses of one host may have failed, each in its own way.
    current = current instanceof AggregateError ? current.errors[0] : current.cause;
  }
  return error instanceof Error && error.name !== '' ? error.name : 'unknown';
}

/** The task as it was when it had just reached the state that a delivery reports. */
function deliveredTask(task: TaskRecord, { state, changedAt }: DeliveryRecord): TaskRecord {
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
  };
}

/** The same in every try, and of one delivery only. It holds nothing that the receiver does not know. */
function messageId({ taskId, state }: DeliveryRecord): string {
  return `${taskId.replace(/^task_/, 'msg_')}_${state}`;
}

/** How secrets begin whose rest is the Base64 of the key. */
const encoded = 'whsec_';

/** The headers of the Standard Webhooks convention; `at` is epoch milliseconds. */
export function webhookHeaders(
  id: string,
  at: number,
  body: string,
  secret: string | undefined,
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1_000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === undefined) return headers;
  const key = secret.startsWith(encoded) ? Buffer.from(secret.slice(encoded.length), 'base64') : secret;
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}
