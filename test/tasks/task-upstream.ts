import { randomUUID } from 'node:crypto';
import { type RecordingUpstream, startUpstream } from '../support/upstream.ts';

interface UpstreamTask {
  /** Id of the gateway's task. */
  key: string;
  prompt: string;
  canceled: boolean;
  /** Inputs that it accepted. Only the prompt `wait` needs one. */
  inputs: number;
  /** Names of the nodes that polled it, in order. */
  polledBy: string[];
}

/** Usage of a finished task in seconds. */
export const taskSeconds = 4;

/**
 * An upstream that outlives its gateways. The prompt determines the end of a task: `ok` completes and `fail` fails at
 * the third poll, `late` completes after `release`, `hold` waits for a cancellation, and `wait` for an input, after which
 * it completes.
 */
export class TaskUpstream {
  readonly tasks = new Map<string, UpstreamTask>();
  /** Submissions by key. */
  readonly submitted = new Map<string, number>();
  #released = false;
  #server: RecordingUpstream | undefined;

  static async start(): Promise<TaskUpstream> {
    const upstream = new TaskUpstream();
    upstream.#server = await startUpstream(({ path, headers, body }, response) => {
      const [status, answer] = upstream.#answer(path, String(headers['x-node']), body);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
    return upstream;
  }

  get url(): string {
    return this.#server?.url ?? '';
  }

  /** Completes the tasks with the prompt `late`. */
  release(): void {
    this.#released = true;
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  #answer(path: string, node: string, body: unknown): [number, object] {
    const [, , id = '', action] = path.split('/');
    if (id === '') return [200, this.#submit(body as { key: string; prompt: string })];
    const task = this.tasks.get(id);
    if (task === undefined) return [404, {}];
    if (action === 'cancel') {
      if (task.prompt !== 'hold' || task.canceled) return [409, {}];
      task.canceled = true;
      return [200, {}];
    }
    if (action === 'input') {
      if (task.prompt !== 'wait' || task.inputs > 0) return [409, {}];
      task.inputs += 1;
      return [200, {}];
    }
    task.polledBy.push(node);
    if (task.prompt === 'wait' && task.inputs === 0) return [200, { state: 'queued' }];
    if (task.prompt === 'hold') return [200, { state: task.canceled ? 'canceled' : 'queued' }];
    const running = task.prompt === 'late' ? !this.#released : task.polledBy.length < 3;
    if (running) return [200, { state: 'in_progress', progress: Math.min(90, task.polledBy.length * 30) }];
    return [200, { state: task.prompt === 'fail' ? 'failed' : 'completed', seconds: taskSeconds }];
  }

  #submit({ key, prompt }: { key: string; prompt: string }): object {
    this.submitted.set(key, (this.submitted.get(key) ?? 0) + 1);
    const id = randomUUID();
    this.tasks.set(id, { key, prompt, canceled: false, inputs: 0, polledBy: [] });
    return { id };
  }
}
