import type { OperationId } from '../../generated/operations.ts';
import { isObject, type Json, type JsonObject } from '../../openapi/tools/document.ts';
import type { Repetition } from '../../server/calls/repetition.ts';
import { exampleOf, localUrl, mapValues } from './examples.ts';
import { RepeatedRequests } from './repeated-requests.ts';
import { formatOf, type MockTask, type Stage, type TaskKind, taskKindOf } from './task-kinds.ts';
import { mergeChange, newId, timeOf, withRequestFields } from './task-values.ts';

interface MockTasksOptions {
  now: () => number;
  taskMs: number;
  onCreate?: (task: MockTask, base: string) => void;
}

/** Created tasks, in memory. Their stage depends on the clock: queued for a fifth of their duration, then running. */
export class MockTasks {
  readonly #tasks = new Map<string, MockTask>();
  readonly #now: () => number;
  readonly #taskMs: number;

  readonly #repeated = new RepeatedRequests();
  readonly #onCreate: (task: MockTask, base: string) => void;

  /** `onCreate` is called with the base URL of links. */
  constructor({ now, taskMs, onCreate = () => {} }: MockTasksOptions) {
    this.#now = now;
    this.#taskMs = taskMs;
    this.#onCreate = onCreate;
  }

  /**
   * Creates a task, or finds that of an earlier request that this one repeats. Returns the documented response with its id.
   *
   * @throws Failure 400 if the idempotency key was used for another request
   */
  create(
    operation: OperationId,
    body: JsonObject,
    created: Json,
    base: string,
    repetition: Repetition = {},
  ): Json {
    const kind = taskKindOf(operation);
    const request = { operation, body, format: formatOf(kind), ...repetition };
    const createdAt = this.#now();
    const earlier = this.#repeated.find(request, createdAt);
    if (earlier !== undefined) return this.#render(created, kind, earlier, base);
    const task: MockTask = { id: newId(kind.id, createdAt), operation, body, createdAt };
    this.#tasks.set(task.id, task);
    this.#repeated.add(request, task);
    this.#onCreate(task, base);
    return this.#render(created, kind, task, base);
  }

  /** Returns the task with an id if the operation `read` can poll it. */
  find(read: OperationId, id: string): MockTask | undefined {
    const task = this.#tasks.get(id);
    return task !== undefined && taskKindOf(task.operation, read) !== undefined ? task : undefined;
  }

  /** Returns the tasks that the operation `read` can poll, newest first. */
  list(read: OperationId): MockTask[] {
    const shown = [...this.#tasks.values()].filter(({ operation }) => taskKindOf(operation, read));
    return shown.reverse();
  }

  remove(id: string): void {
    this.#tasks.delete(id);
  }

  /** Cancels a queued task. Returns false if it is not queued. */
  cancel(task: MockTask): boolean {
    if (this.stage(task) !== 'queued') return false;
    task.canceledAt = this.#now();
    return true;
  }

  /** Returns the stage. A task with `[[fail-late]]` in its prompt fails at its end, as in the sandbox. */
  stage(task: MockTask): Stage {
    if (task.canceledAt !== undefined) return 'canceled';
    const progress = (this.#now() - task.createdAt) / this.#taskMs;
    if (progress < 0.2) return 'queued';
    if (progress < 1) return 'running';
    return this.finalStage(task);
  }

  finalStage({ body }: MockTask): 'done' | 'failed' {
    return JSON.stringify(body).includes('[[fail-late]]') ? 'failed' : 'done';
  }

  /** Returns the body of a callback at a stage. A callback about music contains only the record. */
  showCallback(task: MockTask, base: string, stage: Stage): Json {
    const own = taskKindOf(task.operation);
    const kind = own.callback ?? own;
    const shown = this.#renderStage(task, kind, stage, base);
    return kind.read === 'fetchMusicTask' && isObject(shown) ? (shown.data ?? null) : shown;
  }

  /** Returns the response of the operation `read`. */
  show(task: MockTask, base: string, read: OperationId = taskKindOf(task.operation).read): Json {
    const kind = taskKindOf(task.operation, read);
    if (kind === undefined) throw new Error(`${read} cannot poll tasks of ${task.operation}`);
    return this.#renderStage(task, kind, this.stage(task), base);
  }

  #renderStage(task: MockTask, kind: TaskKind, stage: Stage, base: string): Json {
    const stageExample = kind.stages[stage] ?? kind.stages.done;
    if (stageExample === undefined) throw new Error(`${task.operation} has no ${stage}`);
    const [name, change = {}] = stageExample(task);
    const example = exampleOf(kind.read, name);
    return this.#render(isObject(example) ? mergeChange(example, change) : example, kind, task, base);
  }

  #render(response: Json, kind: TaskKind, task: MockTask, base: string): Json {
    const ids = (text: string) => localUrl(text.replaceAll(kind.id, task.id), base);
    const now = this.#now();
    const endedAt = Math.min(now, task.createdAt + this.#taskMs);
    const times = { created: task.createdAt, started: task.createdAt + this.#taskMs / 5, ended: endedAt };
    const repeated = kind.repeated?.(task.body) ?? {};
    const shown = mapValues(response, ids, (key, value) =>
      Object.hasOwn(repeated, key) ? (repeated[key] ?? null) : timeOf(key, value, times),
    );
    return isObject(shown) ? withRequestFields(shown, task.body) : shown;
  }
}
