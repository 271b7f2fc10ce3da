import { isObject, type Json } from '../../openapi/tools/document.ts';
import type { Alarm, Timers } from '../../server/lib/timers.ts';
import { documented } from '../conformance/contract/documented.ts';
import type { MockTask } from './task-kinds.ts';
import type { MockTasks } from './tasks.ts';

interface CallbackOptions {
  timers: Timers;
  /** Epoch milliseconds. */
  now: () => number;
  taskMs: number;
  /** Signs the callbacks. */
  secret: string | undefined;
}

/** The gateway's states of the stages that are delivered. */
const states = { queued: 'queued', running: 'in_progress', done: 'completed', failed: 'failed' } as const;
type DeliveredStage = keyof typeof states;

/** Delivers the states of tasks to their callback URLs, with the headers and the pauses of the gateway. */
export class MockCallbacks {
  readonly #options: CallbackOptions;
  readonly #alarms = new Set<Alarm>();
  readonly #closed = new AbortController();

  constructor(options: CallbackOptions) {
    this.#options = options;
  }

  /** Schedules the deliveries of a new task. */
  schedule(tasks: MockTasks, task: MockTask, base: string): void {
    const url = callbackUrlOf(task);
    if (url === undefined) return;
    let previous = Promise.resolve();
    const { taskMs } = this.#options;
    for (const stage of deliveredStages(task, tasks.finalStage(task))) {
      const at = { queued: 0, running: taskMs / 5 }[stage as string] ?? taskMs;
      this.#after(at, () => {
        // Deliveries of one task stay in order.
        previous = previous.then(() => {
          if (task.canceledAt !== undefined) return;
          return this.#deliver(url, task, stage, JSON.stringify(tasks.showCallback(task, base, stage)));
        });
      });
    }
  }

  close(): void {
    this.#closed.abort();
    for (const alarm of this.#alarms) alarm.cancel();
  }

  #after(ms: number, run: () => void): void {
    const alarm = this.#options.timers.alarm(ms, () => {
      this.#alarms.delete(alarm);
      run();
    });
    this.#alarms.add(alarm);
  }

  /** Repeats a delivery until it is accepted or the gateway would give up. */
  async #deliver(url: string, task: MockTask, stage: DeliveredStage, body: string): Promise<void> {
    const [{ messageId, webhookHeaders }, { defaultTiming }] = await Promise.all([
      import('../../server/tasks/callbacks/callback-sender.ts'),
      import('../../server/tasks/callbacks/environment.ts'),
    ]);
    const { now, secret } = this.#options;
    const id = messageId({ taskId: task.id, state: states[stage] });
    for (const pause of [...defaultTiming.pausesMs, undefined]) {
      const headers = { 'content-type': 'application/json', ...webhookHeaders(id, now(), body, secret) };
      const signal = AbortSignal.any([this.#closed.signal, AbortSignal.timeout(defaultTiming.answerMs)]);
      const isAccepted = await fetch(url, { method: 'POST', redirect: 'manual', headers, body, signal }).then(
        async (response) => {
          await response.body?.cancel();
          return response.ok;
        },
        () => false,
      );
      if (isAccepted || pause === undefined || this.#closed.signal.aborted) return;
      await new Promise<void>((resolve) => this.#after(pause, resolve));
    }
  }
}

/** Official tasks deliver every state, image jobs each state after the first, and music tasks the final state. */
function deliveredStages({ operation }: MockTask, final: DeliveredStage): readonly DeliveredStage[] {
  if (/Image|Imagine/.test(operation)) return ['running', final];
  return /Music|Lyrics/.test(operation) ? [final] : ['queued', 'running', final];
}

/** Returns the callback URL of a request. */
function callbackUrlOf({ operation, body }: MockTask): string | undefined {
  const urls = documented(operation)
    .callbacks.filter(({ method }) => method === 'post')
    .map(({ field }) => field.reduce<Json | undefined>((value, name) => childOf(value, name), body));
  return urls.find((url) => typeof url === 'string' && url !== '') as string | undefined;
}

const childOf = (value: Json | undefined, name: string): Json | undefined =>
  isObject(value) ? value[name] : undefined;
