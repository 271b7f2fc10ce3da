import type { ContinueTask, FinishTask, InferenceClientEvent, RunTask } from '../../../generated/events.ts';
import type { Json, JsonObject } from '../../../openapi/tools/document.ts';
import { isObject } from '../../../openapi/tools/document.ts';
import { audioPiece, piecesEach } from './audio.ts';
import { billingCharacters, usageOf } from './billing.ts';
import { frameProblem, readObject } from './client-frame.ts';
import { filled, payloadOf } from './examples.ts';
import { type InferenceState, outOfOrder } from './inference-states.ts';
import type { Failure } from './scripts.ts';
import { takeSentence, wordsOf } from './sentences.ts';
import { idleLimit, MockSession } from './session.ts';

/** Longest time between two texts of a task, in milliseconds. */
const textLimit = 23_000;
/** Longest text of one frame and of one task, in billing characters. */
const maxTextLength = 20_000;
const maxTaskLength = 200_000;
const taskId = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

interface Task {
  id: string;
  parameters: RunTask['payload']['parameters'];
  buffer: string;
  texts: number;
  /** Billing characters that came, and those that were spoken. */
  taken: number;
  spoken: number;
  sentences: number;
}

/** Plays the server of a duplex socket with the examples of the document. */
export class InferenceSession extends MockSession {
  readonly #used = new Set<string>();
  #state: InferenceState = 'idle';
  #task: Task | undefined;

  protected take(text: string): void {
    const frame = readObject(text);
    const header = frame?.header;
    const named = isObject(header) && typeof header.task_id === 'string' ? header.task_id : '';
    const id = taskId.test(named) ? named : undefined;
    if (frame === undefined) return this.#invalid(id, 'The frame is not a JSON object.');
    const problem = frameProblem(this.opening.client, frame);
    if (problem !== undefined) return this.#invalid(id, problem.message);
    this.#follow(frame as unknown as InferenceClientEvent);
  }

  #follow(frame: InferenceClientEvent): void {
    const { action, task_id: id } = frame.header;
    const refused = outOfOrder[action][this.#state];
    if (refused !== undefined) return this.#taskFailed(id, 'CLIENT_ERROR', `${action}: ${refused}`, 1000);
    if (this.#task !== undefined && this.#task.id !== id)
      return this.#invalid(id, 'header.task_id: is not the one of the task that runs.');
    if (action === 'run-task') this.#run(id, frame as RunTask);
    else if (action === 'continue-task') this.#continue(frame as ContinueTask);
    else this.#finish(frame as FinishTask);
  }

  #run(id: string, { payload: { model = '', parameters } }: RunTask): void {
    const own = this.opening.model.id;
    if (model !== '' && model !== own)
      return this.#invalid(id, `payload.model: must be ${own}, the model of this connection.`);
    const written = id.replaceAll('-', '').toLowerCase();
    if (this.#used.has(written)) return this.#invalid(id, `header.task_id: ${id} was used before.`);
    this.#used.add(written);
    this.#task = { id, parameters, buffer: '', texts: 0, taken: 0, spoken: 0, sentences: 0 };
    this.#go('starting', idleLimit);
    this.confirm(() => {
      this.#tell('TaskStarted', id);
      this.#go('running', textLimit);
    });
  }

  #continue({ header, payload: { input } }: ContinueTask): void {
    const task = this.#task;
    if (task === undefined) return;
    this.#go('running', textLimit);
    const { text = '', flush = false } = input;
    if (text !== '') task.texts += 1;
    const characters = billingCharacters(text, task.parameters.enable_ssml);
    task.taken += characters;
    const limit = [
      { broken: task.parameters.enable_ssml === true && task.texts > 1, must: 'only one with enable_ssml' },
      { broken: characters > maxTextLength, must: `at most ${maxTextLength} billing characters` },
      { broken: task.taken > maxTaskLength, must: `at most ${maxTaskLength} billing characters in one task` },
    ].find(({ broken }) => broken);
    if (limit !== undefined) return this.#invalid(header.task_id, `payload.input.text: ${limit.must}.`);
    task.buffer += text;
    this.#speak(task, flush);
  }

  #finish({ header }: FinishTask): void {
    const task = this.#task;
    if (task === undefined) return;
    this.#speak(task, true);
    const usage = usageOf(this.opening.model, task.spoken);
    this.#tell('TaskFinished', header.task_id, {
      'header.attributes.request_uuid': crypto.randomUUID(),
      'payload.usage': usage,
    });
    this.#task = undefined;
    this.#go('idle', idleLimit);
  }

  /** Speaks the sentences that are whole, or all of the text. */
  #speak(task: Task, all: boolean): void {
    for (;;) {
      const { sentence, rest } = takeSentence(task.buffer, all);
      if (sentence === '') return;
      task.buffer = rest;
      this.#speakSentence(task, sentence);
    }
  }

  #speakSentence(task: Task, sentence: string): void {
    const { parameters, id } = task;
    const { format = 'mp3', sample_rate: rate = 22_050, enable_ssml: ssml } = parameters;
    const index = task.sentences;
    task.sentences += 1;
    task.spoken += billingCharacters(sentence, ssml);
    const words = parameters.word_timestamp_enabled === true ? wordsOf(sentence) : [];
    const step = (type: string, spoken: JsonObject[] = []) =>
      this.#tell(
        'ResultGenerated',
        id,
        {
          'payload.output.sentence': { index, words: spoken },
          'payload.output.original_text': sentence,
          'payload.usage': usageOf(this.opening.model, task.spoken),
        },
        type,
      );
    step('sentence-begin');
    for (let piece = 0; piece < piecesEach; piece += 1) {
      step('sentence-synthesis', piece === 0 ? words : []);
      this.sendAudio(audioPiece(format, rate, index === 0 && piece === 0));
      this.spoke();
    }
    step('sentence-end');
  }

  #tell(message: string, id: string, values: Record<string, Json> = {}, example?: string): void {
    this.send(filled(payloadOf(message, example), { ...values, 'header.task_id': id }));
  }

  #go(state: InferenceState, silence: number): void {
    this.#state = state;
    this.allowSilence(silence);
  }

  #invalid(id: string | undefined, message: string): void {
    this.#taskFailed(id, 'InvalidParameter', message, 1007);
  }

  fail({ inference, message, close }: Failure): void {
    this.#taskFailed(undefined, inference, message, close);
  }

  /** The task that runs is the one that fails; a frame that names none is answered with the close alone. */
  #taskFailed(
    named: string | undefined,
    code: string,
    message: string,
    close: number,
    reason?: string,
  ): void {
    const id = this.#task?.id ?? named;
    if (id !== undefined)
      this.#tell('TaskFailed', id, { 'header.error_code': code, 'header.error_message': message });
    this.close(close, reason);
  }

  protected tooQuiet(): void {
    if (this.#state === 'running')
      this.#taskFailed(undefined, 'CLIENT_ERROR', 'The client sent no text for 23 seconds.', 1000, 'timeout');
    else this.close(1000, 'idle');
  }
}
