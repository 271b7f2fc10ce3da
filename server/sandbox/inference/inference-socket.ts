import { isObject } from '../http/json-body.ts';
import { internalError, NativeError } from '../http/native-error.ts';
import { requestedModel } from '../models.ts';
import { Parameters } from '../native/parameters.ts';
import { readSynthesisOptions } from '../native/synthesis.ts';
import { refusalBeforeText } from '../refusals.ts';
import { Countdown, type SocketContext } from '../sockets/connection.ts';
import { findTriggers } from '../triggers.ts';
import { SpeechTask } from './speech-task.ts';
import { TaskChannel } from './task-speaker.ts';

/** `GET /api-ws/v1/inference`: the voxa and alpha-audio models, one task after another. */
export function openInferenceSocket(context: SocketContext): void {
  new InferenceSocket(context).start();
}

class InferenceSocket {
  readonly #context: SocketContext;
  readonly #idle: Countdown;
  readonly #usedTaskIds = new Set<string>();
  #task: { id: string; speech: SpeechTask } | undefined;

  constructor(context: SocketContext) {
    const { connection, services } = context;
    this.#context = context;
    this.#idle = new Countdown(services.timeouts.idle, () => connection.close(1000, 'idle'));
  }

  start(): void {
    const { connection } = this.#context;
    connection.signal.addEventListener('abort', () => this.#idle.stop(), { once: true });
    this.#idle.restart();
    connection.onFrame((text) => {
      if (text === undefined) return connection.close(1003, 'text frames only');
      const frame = parseFrame(text);
      if (frame) this.#handle(frame);
      else connection.close(1007, 'no task in this frame');
    });
  }

  #handle(frame: ClientFrame): void {
    const { connection, report } = this.#context;
    const channel = new TaskChannel(connection, frame.taskId);
    try {
      const { action, payload } = readFrame(frame);
      if (action === 'run-task') return this.#run(payload, channel);
      if (this.#task?.id !== frame.taskId)
        return channel.failClient(`${action}: no task with this id is running`);
      if (action === 'finish-task') return this.#task.speech.finish();
      this.#task.speech.continue(payload.requiredObject('input'));
    } catch (error) {
      channel.fail(error instanceof NativeError ? error : internalError());
      if (!(error instanceof NativeError)) report(error);
    }
  }

  #run(payload: Parameters, channel: TaskChannel): void {
    const { connection, services, report } = this.#context;
    const { taskId } = channel;
    if (this.#task) return channel.failClient('run-task: another task is running');
    if (this.#usedTaskIds.has(taskId)) {
      throw new NativeError(400, 'InvalidParameter', 'header.task_id was used before on this socket');
    }
    this.#usedTaskIds.add(taskId);
    const model = requestedModel(payload.string('model'), 'inference', 'payload.model');
    checkTaskKind(payload);
    const parameters = payload.requiredObject('parameters');
    const written = `${parameters.string('voice')} ${parameters.string('instruction')}`;
    const refusal = refusalBeforeText(written);
    if (refusal) throw refusal;
    if (findTriggers(written).has('hang')) return connection.silence();

    const speech = new SpeechTask({
      channel,
      services,
      options: readSynthesisOptions(parameters, model, services.voices),
      tokens: model.unit === 'tokens',
      report,
      whenFinished: () => {
        this.#task = undefined;
        this.#idle.restart();
      },
    });
    this.#task = { id: taskId, speech };
    this.#idle.stop();
    speech.start();
  }
}

const actions = ['run-task', 'continue-task', 'finish-task'] as const;
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/** A frame whose task is known. */
interface ClientFrame {
  taskId: string;
  body: Parameters;
}

/** Undefined for a frame in which no task can be found. */
function parseFrame(text: string): ClientFrame | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(body) || !isObject(body.header)) return undefined;
  const { task_id: taskId } = body.header;
  if (typeof taskId !== 'string' || !uuid.test(taskId)) return undefined;
  return { taskId, body: new Parameters(body, '') };
}

/** The action of a frame and its payload. Throws `InvalidParameter`. */
function readFrame({ body }: ClientFrame): { action: (typeof actions)[number]; payload: Parameters } {
  const header = body.requiredObject('header');
  const action = header.optionalChoice('action', actions);
  if (!action) throw header.wrong('action', 'is required');
  if (header.string('streaming') !== 'duplex') throw header.wrong('streaming', 'must be duplex');
  const payload = body.requiredObject('payload');
  const input = payload.requiredObject('input');
  if (action !== 'continue-task' && !input.empty) throw payload.wrong('input', 'must be empty');
  return { action, payload };
}

/** What `run-task` must always say. */
function checkTaskKind(payload: Parameters): void {
  for (const [name, value] of [
    ['task_group', 'audio'],
    ['task', 'tts'],
    ['function', 'SpeechSynthesizer'],
  ] as const) {
    if (payload.string(name) !== value) throw payload.wrong(name, `must be ${value}`);
  }
  const parameters = payload.requiredObject('parameters');
  if (parameters.string('text_type') !== 'PlainText')
    throw parameters.wrong('text_type', 'must be PlainText');
}
