import type { WebSocket } from 'ws';
import type { ContinueTask, FinishTask, RunTask } from '../../../generated/events.ts';
import { pricedVoiceKind } from '../../calls/speech/speak.ts';
import { channelsForVoices } from '../../channels/voice-route.ts';
import { quoted } from '../../models/catalogue.ts';
import { voicesIn } from '../../providers/native/voice-fields.ts';
import type { Connection } from '../connection.ts';
import { type JsonObject, objectField, parseObject, UsedIds } from '../frames.ts';
import { idleTimeoutMs, textTimeoutMs } from '../limits.ts';
import { type Outcome, SocketSession } from '../session.ts';
import {
  clientTooSlow,
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

/** A duplex socket. Runs one task at a time, with text upstream and audio downstream. */
export class InferenceSession extends SocketSession {
  readonly #usedIds = new UsedIds();
  #state: TaskState = 'idle';
  #task: InferenceTask | undefined;
  #tasks = 0;
  /** Whether the task was sent upstream. */
  #sent = false;
  #draining = false;

  /** The first task connects the upstream, since its voice can determine the channel. */
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
      const failure = { ...invalidParameter('The frame must be a text frame.'), reason: 'text frames only' };
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
      return this.#failTask(invalidParameter('header.task_id: must be the id of the running task.'));
    if (!(await this.#checkVoices(frame))) return;
    if (action === 'continue-task' && !(await this.#acceptText(frame))) return;
    this.#enter(move.next);
    this.toUpstream(this.#withUpstreamModel(read, data));
    if (action === 'continue-task') this.#task?.addSentText(frame.payload.input.text ?? '');
  }

  async #run(frame: RunTask, id: string): Promise<void> {
    const { gateway, key, model, requestId } = this.connection;
    const { model: requested = '', parameters } = frame.payload;
    if (requested !== '' && requested !== model.id) {
      const message = `payload.model: must be ${model.id}, the model of this connection.`;
      return this.#failTask(invalidParameter(message), id);
    }
    // UUIDs are equal whatever their dashes and case.
    if (!this.#usedIds.add(id.replaceAll('-', '').toLowerCase()))
      return this.#failTask(invalidParameter(`header.task_id: ${quoted(id)} was used before.`), id);
    // From here on, failures are reported with the id of the task.
    this.#tasks += 1;
    const task = new InferenceTask(this.connection, `${requestId}.${this.#tasks}`, frame);
    this.#task = task;
    this.#sent = false;
    this.#enter('starting');
    await key.recheck();
    const field = 'payload.parameters.voice';
    const channels = await channelsForVoices(gateway, key.caller, model, [
      { field, voice: parameters.voice, named: true },
      ...voicesIn('inference', { ...frame }, [field]),
    ]);
    task.voice = await pricedVoiceKind(gateway, key.caller, model, parameters.voice);
    const { channel } = this;
    if (channel === undefined || !channels.includes(channel)) await this.connect(channels);
    if (this.isEnding) return;
    const upstream = this.channel?.upstreamModel(model.id);
    this.#sent = true;
    this.toUpstream(JSON.stringify({ ...frame, payload: { ...frame.payload, model: upstream } }));
  }

  /** Checks that the task's channel has all voices of a later frame. Returns false if the task failed or ended. */
  async #checkVoices(frame: ContinueTask | FinishTask): Promise<boolean> {
    const voices = voicesIn('inference', { ...frame });
    const [first] = voices;
    if (first === undefined) return true;
    const { gateway, key, model } = this.connection;
    const { channel } = this;
    const channels = await channelsForVoices(gateway, key.caller, model, voices, channel);
    if (!this.#running) return false;
    if (channel !== undefined && channels.includes(channel)) return true;
    await this.#failTask(invalidParameter(`${first.field}: this voice requires a new task.`));
    return false;
  }

  /** Checks a text and reserves quota for it. Returns false if the task failed or ended. */
  async #acceptText({ payload }: ContinueTask): Promise<boolean> {
    const task = this.#task;
    const text = payload.input.text ?? '';
    const problem = task?.check(text);
    if (problem !== undefined) {
      await this.#failTask(problem);
      return false;
    }
    const isReserved = text === '' || (await task?.reserve(text));
    if (!this.#running) return false;
    if (isReserved) return true;
    if (task?.refusal !== undefined) await this.#failTask(taskFailureFrom(task.refusal));
    return false;
  }

  /** Whether the task is still running. The provider can end it during an asynchronous check. */
  get #running(): boolean {
    return this.#state === 'running';
  }

  /** Returns the frame with the upstream id of the model, or unchanged if it contains no model. */
  #withUpstreamModel({ frame }: TaskFrame, data: Buffer): Buffer | string {
    const { model } = this.connection;
    const upstream = this.channel?.upstreamModel(model.id);
    if (!('model' in frame.payload) || upstream === model.id) return data;
    return JSON.stringify({ ...frame, payload: { ...frame.payload, model: upstream } });
  }

  protected fromUpstream(data: Buffer, binary: boolean): void | Promise<void> {
    const task = this.#task;
    if (task === undefined) return;
    if (this.#state !== 'running') this.touch();
    if (binary) {
      task.addAudio(data.length);
      this.client.send(data, true);
      return;
    }
    const frame = parseObject(data.toString('utf8'));
    const event = frame === undefined ? undefined : objectField(frame, 'header').event;
    if (frame === undefined || typeof event !== 'string')
      return this.#failTask(providerFailed('The provider sent an invalid event.'));
    task.recordFrame(frame);
    if (event === 'task-failed') return this.#providerFailed(frame);
    if (event === 'task-finished') return this.#finished(task, frame, data);
    const next = taskEventMoves[this.#state][event as MovingTaskEvent];
    if (next !== undefined) this.#enter(next);
    this.client.send(data, false);
  }

  /** Settles the task before the client receives its end and may start the next one. */
  async #finished(task: InferenceTask, frame: JsonObject, data: Buffer): Promise<void> {
    this.#state = 'finishing';
    const charged = await task.finish({ channel: this.channelName, status: 200 });
    if (this.isEnding) return;
    this.#task = undefined;
    this.#enter('idle');
    this.client.send(charged === undefined ? data : withCharge(frame, charged), false);
    if (this.#draining) await this.#failTask(restarting);
  }

  #providerFailed(frame: JsonObject): Promise<void> {
    const { channel } = this;
    const failed = providerFailed('The provider failed to handle the task.');
    return this.#failTask(channel === undefined ? failed : readTaskFailed(frame, channel));
  }

  protected upstreamClosed(): void {
    // Between tasks a close is harmless: the next task connects again.
    if (this.#task !== undefined && this.#sent)
      void this.#failTask(providerFailed('The provider closed the connection.'));
  }

  protected clientTooSlow(): void {
    void this.#failTask(clientTooSlow);
  }

  protected idleTimedOut(): void {
    if (this.#state === 'idle') void this.end({ status: 200 }, () => this.client.close(1000, 'idle'));
    else if (this.#state === 'running') void this.#failTask(noText);
    else void this.#failTask(providerFailed('The provider did not respond in time.', 504));
  }

  protected fail(error: unknown): void {
    void this.#failTask(taskFailureFrom(error));
  }

  /** Changes the state and sets its timeout: for the next text while running, for any activity otherwise. */
  #enter(state: TaskState): void {
    this.#state = state;
    this.setIdleTimeout(state === 'running' ? textTimeoutMs : idleTimeoutMs);
  }

  /** Sends `task-failed`, if a task id is known, and closes. `requestedId` is the id of the frame if no task runs. */
  #failTask(failure: TaskFailure, requestedId?: string): Promise<void> {
    const { close, reason, status, code } = failure;
    const taskId = this.#task?.id ?? requestedId;
    return this.end({ status, errorCode: code }, () => {
      if (taskId !== undefined) this.client.send(taskFailedFrame(taskId, failure), false);
      this.client.close(close, reason);
    });
  }

  protected async settle(outcome: Outcome): Promise<void> {
    this.#state = 'closed';
    await this.#task?.settle({ channel: this.channelName, ...outcome });
  }
}

/** Returns a `task-finished` with the charge in its usage. */
function withCharge(frame: JsonObject, cost: number): string {
  const payload = objectField(frame, 'payload');
  return JSON.stringify({
    ...frame,
    payload: { ...payload, usage: { ...objectField(payload, 'usage'), cost } },
  });
}
