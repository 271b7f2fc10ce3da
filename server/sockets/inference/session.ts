import type { WebSocket } from 'ws';
import type { ContinueTask, FinishTask, RunTask } from '../../../generated/events.ts';
import { channelsForVoices } from '../../channels/voice-route.ts';
import { Failure } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import { voicesIn } from '../../providers/native/voice-places.ts';
import type { Connection } from '../connection.ts';
import { inner, type JsonObject, parseObject, SeenIds } from '../frames.ts';
import { idleLimit, textLimit } from '../limits.ts';
import { type Outcome, SocketSession } from '../session.ts';
import {
  clientStalled,
  invalidParameter,
  noText,
  outOfOrder,
  providerFailed,
  readTaskFailed,
  restarting,
  type TaskFailure,
  taskFailedFrame,
  taskFailureFrom,
} from './errors.ts';
import {
  type MovingTaskEvent,
  readTaskFrame,
  type TaskFrame,
  type TaskState,
  taskEventMoves,
  taskMoves,
} from './states.ts';
import { InferenceTask } from './task.ts';

/** A duplex socket: one task after another, text going up while audio comes down. */
export class InferenceSession extends SocketSession {
  readonly #seen = new SeenIds();
  #state: TaskState = 'idle';
  #task: InferenceTask | undefined;
  #tasks = 0;
  /** Whether the upstream knows of the task. */
  #sent = false;
  #draining = false;

  /** The upstream is opened by the first task, since its voice may decide which one. */
  constructor(connection: Connection, socket: WebSocket) {
    super(connection, '/api-ws/v1/inference', socket);
  }

  drain(): void {
    this.#draining = true;
    if (this.#task === undefined) this.shutDown();
  }

  shutDown(): void {
    void this.#failTask(restarting);
  }

  protected async fromClient(data: Buffer, binary: boolean): Promise<void> {
    if (binary) {
      const failure = { ...invalidParameter('Only text frames are taken.'), reason: 'text frames only' };
      return this.#failTask({ ...failure, close: 1003 });
    }
    const read = readTaskFrame(data.toString('utf8'));
    if ('problem' in read) return this.#failTask(invalidParameter(read.problem), read.taskId);
    const { action, frame } = read;
    const { task_id: id } = frame.header;
    const move = taskMoves[this.#state][action];
    if ('refused' in move) return this.#failTask(outOfOrder(`${action}: ${move.refused}`), id);
    if (action === 'run-task') return this.#run(frame, id);
    if (id !== this.#task?.id)
      return this.#failTask(invalidParameter('header.task_id: is not the one of the task that runs.'));
    if (!(await this.#mayName(frame))) return;
    if (action === 'continue-task' && !(await this.#take(frame))) return;
    this.#go(move.next);
    this.relay.toUpstream(this.#named(read, data));
    if (action === 'continue-task') this.#task?.sent(frame.payload.input.text ?? '');
  }

  async #run(frame: RunTask, id: string): Promise<void> {
    const { gateway, key, model, requestId } = this.connection;
    const { model: named = '', parameters } = frame.payload;
    if (named !== '' && named !== model.id) {
      const message = `payload.model: must be ${model.id}, the model of this connection.`;
      return this.#failTask(invalidParameter(message), id);
    }
    // Dashes and case are only ways of writing the same id.
    if (!this.#seen.add(id.replaceAll('-', '').toLowerCase()))
      return this.#failTask(invalidParameter(`header.task_id: ${quoted(id)} was used before.`), id);
    // The task is there from now on: whatever fails is reported under its id.
    this.#tasks += 1;
    this.#task = new InferenceTask(this.connection, `${requestId}.${this.#tasks}`, frame);
    this.#sent = false;
    this.#go('starting');
    await key.recheck();
    const field = 'payload.parameters.voice';
    const channels = await channelsForVoices(gateway, key.caller, model, [
      { field, voice: parameters.voice, named: true },
      ...voicesIn('inference', { ...frame }, [field]),
    ]);
    const { channel } = this.relay;
    if (channel === undefined || !channels.includes(channel)) await this.relay.connect(channels);
    if (this.over) return;
    const upstream = this.relay.channel?.upstreamModel(model.id);
    this.#sent = true;
    this.relay.toUpstream(JSON.stringify({ ...frame, payload: { ...frame.payload, model: upstream } }));
  }

  /**
   * Whether a later frame names no voice that the task could not have been started with. False when the task has
   * failed over it, or ended by itself.
   */
  async #mayName(frame: ContinueTask | FinishTask): Promise<boolean> {
    const named = voicesIn('inference', { ...frame });
    const [first] = named;
    if (first === undefined) return true;
    const { gateway, key, model } = this.connection;
    const { channel } = this.relay;
    const channels = await channelsForVoices(gateway, key.caller, model, named, channel);
    if (!this.#running) return false;
    if (channel !== undefined && channels.includes(channel)) return true;
    await this.#failTask(invalidParameter(`${first.field}: this voice needs a task of its own.`));
    return false;
  }

  /** Checks a text and holds quota for it. False when the task has failed over it, or ended by itself. */
  async #take({ payload }: ContinueTask): Promise<boolean> {
    const task = this.#task;
    const text = payload.input.text ?? '';
    const problem = task?.check(text);
    if (problem !== undefined) {
      await this.#failTask(problem);
      return false;
    }
    const covered = text === '' || (await task?.cover(text));
    if (!this.#running) return false;
    if (covered) return true;
    const message = "The key's remaining quota does not cover this text.";
    await this.#failTask(taskFailureFrom(new Failure(403, 'insufficient_user_quota', message)));
    return false;
  }

  /** Whether the task that a frame was for still runs: while something was looked up, the provider may have ended it. */
  get #running(): boolean {
    return this.#state === 'running';
  }

  /** The frame as it came, unless it names the model, which the provider may know by another name. */
  #named({ frame }: TaskFrame, data: Buffer): Buffer | string {
    const { model } = this.connection;
    const upstream = this.relay.channel?.upstreamModel(model.id);
    if (!('model' in frame.payload) || upstream === model.id) return data;
    return JSON.stringify({ ...frame, payload: { ...frame.payload, model: upstream } });
  }

  protected fromUpstream(data: Buffer, binary: boolean): void | Promise<void> {
    const task = this.#task;
    // Between tasks nothing is owed, and nothing could be made of it.
    if (task === undefined) return;
    if (this.#state !== 'running') this.heard();
    if (binary) {
      task.heard(data.length);
      this.relay.client.send(data, true);
      return;
    }
    const frame = parseObject(data.toString('utf8'));
    const event = frame === undefined ? undefined : inner(frame, 'header').event;
    if (frame === undefined || typeof event !== 'string')
      return this.#failTask(providerFailed('The provider sent something unusable.'));
    task.note(frame);
    if (event === 'task-failed') return this.#providerFailed(frame);
    if (event === 'task-finished') return this.#finished(task, data);
    const next = taskEventMoves[this.#state][event as MovingTaskEvent];
    if (next !== undefined) this.#go(next);
    this.relay.client.send(data, false);
  }

  /** The bill is paid before the end is sent; only then may the next task come. */
  async #finished(task: InferenceTask, data: Buffer): Promise<void> {
    this.#state = 'finishing';
    await task.finish({ channel: this.relay.channelName, status: 200 });
    if (this.over) return;
    this.#task = undefined;
    this.#go('idle');
    this.relay.client.send(data, false);
    if (this.#draining) await this.#failTask(restarting);
  }

  #providerFailed(frame: JsonObject): Promise<void> {
    const { channel } = this.relay;
    const failed = providerFailed('The provider failed to handle the task.');
    return this.#failTask(channel === undefined ? failed : readTaskFailed(frame, channel));
  }

  protected upstreamClosed(): void {
    // Between tasks nothing is lost: the next one opens another.
    if (this.#task !== undefined && this.#sent)
      void this.#failTask(providerFailed('The provider closed the connection.'));
  }

  protected clientStalled(): void {
    void this.#failTask(clientStalled);
  }

  protected tooQuiet(): void {
    if (this.#state === 'idle') void this.end({ status: 200 }, () => this.relay.client.close(1000, 'idle'));
    else if (this.#state === 'running') void this.#failTask(noText);
    else void this.#failTask(providerFailed('The provider fell silent.', 504));
  }

  protected fail(error: unknown): void {
    void this.#failTask(taskFailureFrom(error));
  }

  /** Moves on, and sets how long nothing may happen: without text while text is due, without anything otherwise. */
  #go(state: TaskState): void {
    this.#state = state;
    this.allowSilence(state === 'running' ? textLimit : idleLimit);
  }

  /** Tells that a task failed and closes. `named` is the id when none runs; without any, only the close frame says so. */
  #failTask(failure: TaskFailure, named?: string): Promise<void> {
    const { close, reason, status, code } = failure;
    const taskId = this.#task?.id ?? named;
    return this.end({ status, errorCode: code }, () => {
      if (taskId !== undefined) this.relay.client.send(taskFailedFrame(taskId, failure), false);
      this.relay.client.close(close, reason);
    });
  }

  protected async closeBooks(outcome: Outcome): Promise<void> {
    this.#state = 'closed';
    await this.#task?.close({ channel: this.relay.channelName, ...outcome });
  }
}
