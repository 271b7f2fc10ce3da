import { isObject } from '../http/json-body.ts';
import { internalError, NativeError } from '../http/native-error.ts';
import { resolveModel } from '../models.ts';
import { Parameters } from '../native/parameters.ts';
import { readSynthesisOptions } from '../native/synthesis.ts';
import { RestartableTimeout, type SocketContext } from '../sockets/connection.ts';
import { errorBeforeText } from '../triggered-errors.ts';
import { findTriggers } from '../triggers.ts';
import { SpeechTask } from './speech-task.ts';
import { TaskChannel } from './task-speaker.ts';

/** `GET /api-ws/v1/inference`: the voxa and alpha-audio models, one task at a time. */
export function openInferenceSocket(context: SocketContext): void {
  new InferenceSocket(context).start();
}

class InferenceSocket {
  readonly #context: SocketContext;
  readonly #idle: RestartableTimeout;
  readonly #usedTaskIds = new Set<string>();
  #task: { id: string; task: SpeechTask } | undefined;

  constructor(context: SocketContext) {
    const { connection, services } = context;
    this.#context = context;
    this.#idle = new RestartableTimeout(services.timeoutsMs.idle, () => connection.close(1000, 'idle'));
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
        return channel.failWithClientError(`${action}: no task with this id is running`);
      if (action === 'finish-task') return this.#task.task.finish();
      this.#task.task.continue(payload.requiredObject('input'));
    } catch (error) {
      channel.fail(error instanceof NativeError ? error : internalError());
      if (!(error instanceof NativeError)) report(error);
    }
  }

  #run(payload: Parameters, channel: TaskChannel): void {
    const { connection, services, report } = this.#context;
    const { taskId } = channel;
    if (this.#task) return channel.failWithClientError('run-task: another task is running');
    if (this.#usedTaskIds.has(taskId)) {
      throw new NativeError(400, 'InvalidParameter', 'header.task_id was used before on this socket');
    }
    this.#usedTaskIds.add(taskId);
    const model = resolveModel(payload.string('model'), 'inference', 'payload.model');
    validateTaskFields(payload);
    const parameters = payload.requiredObject('parameters');
    const fields = `${parameters.string('voice')} ${parameters.string('instruction')}`;
    const error = errorBeforeText(fields);
    if (error) throw error;
    if (findTriggers(fields).has('hang')) return connection.silence();

    const speech = new SpeechTask({
      channel,
      services,
      options: readSynthesisOptions(parameters, model, services.voices),
      usesTokens: model.unit === 'tokens',
      report,
      onFinished: () => {
        this.#task = undefined;
        this.#idle.restart();
      },
    });
    this.#task = { id: taskId, task: speech };
    this.#idle.stop();
    speech.start();
  }
}

const actions = ['run-task', 'continue-task', 'finish-task'] as const;
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/** A frame with a valid task id. */
interface ClientFrame {
  taskId: string;
  body: Parameters;
}

/** Parses a frame. Returns undefined if it has no valid task id. */
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

/** Returns the action and the payload of a frame. Throws `InvalidParameter`. */
function readFrame({ body }: ClientFrame): { action: (typeof actions)[number]; payload: Parameters } {
  const header = body.requiredObject('header');
  const action = header.optionalChoice('action', actions);
  if (!action) throw header.invalid('action', 'is required');
  if (header.string('streaming') !== 'duplex') throw header.invalid('streaming', 'must be duplex');
  const payload = body.requiredObject('payload');
  const input = payload.requiredObject('input');
  if (action !== 'continue-task' && !input.isEmpty) throw payload.invalid('input', 'must be empty');
  return { action, payload };
}

/** Checks the constant fields of `run-task`. */
function validateTaskFields(payload: Parameters): void {
  for (const [name, value] of [
    ['task_group', 'audio'],
    ['task', 'tts'],
    ['function', 'SpeechSynthesizer'],
  ] as const) {
    if (payload.string(name) !== value) throw payload.invalid(name, `must be ${value}`);
  }
  const parameters = payload.requiredObject('parameters');
  if (parameters.string('text_type') !== 'PlainText')
    throw parameters.invalid('text_type', 'must be PlainText');
}
