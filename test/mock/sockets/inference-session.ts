import type { ContinueTask, FinishTask, InferenceClientEvent, RunTask } from '../../../generated/events.ts';
import type { Json, JsonObject } from '../../../openapi/tools/document.ts';
import { isObject } from '../../../openapi/tools/document.ts';
import type { AudioSettings } from '../../../server/sandbox/speech/commands.ts';
import { SampleStream, sampleMs } from '../sample-audio.ts';
import { billingCharacters, usageOf } from './billing.ts';
import { frameProblem, readObject } from './client-frame.ts';
import { payloadOf, withValues } from './examples.ts';
import { type InferenceState, orderErrors } from './inference-states.ts';
import type { Failure } from './scripts.ts';
import { splitSentence, wordsOf } from './sentences.ts';
import { idleTimeoutMs, MockSession } from './session.ts';

/** Maximum time between two texts of a task. */
const textTimeoutMs = 23_000;
/** Maximum length of a frame and of a task in billing characters. */
const maxTextLength = 20_000;
const maxTaskLength = 200_000;
const taskId = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

interface Task {
  id: string;
  parameters: RunTask['payload']['parameters'];
  buffer: string;
  texts: number;
  /** Billing characters received and spoken. */
  receivedCharacters: number;
  spokenCharacters: number;
  sentences: number;
}

/** The server side of an inference socket, with the examples of the document. */
export class InferenceSession extends MockSession {
  readonly #usedTaskIds = new Set<string>();
  #state: InferenceState = 'idle';
  #task: Task | undefined;
  #audio: SampleStream | undefined;

  protected handleText(text: string): void {
    const frame = readObject(text);
    const header = frame?.header;
    const namedId = isObject(header) && typeof header.task_id === 'string' ? header.task_id : '';
    const id = taskId.test(namedId) ? namedId : undefined;
    if (frame === undefined) return this.#invalid(id, 'The frame is not a JSON object.');
    const problem = frameProblem(this.options.client, frame);
    if (problem !== undefined) return this.#invalid(id, problem.message);
    this.#handle(frame as unknown as InferenceClientEvent);
  }

  #handle(frame: InferenceClientEvent): void {
    const { action, task_id: id } = frame.header;
    const error = orderErrors[action][this.#state];
    if (error !== undefined) return this.#taskFailed(id, 'CLIENT_ERROR', `${action}: ${error}`, 1000);
    if (this.#task !== undefined && this.#task.id !== id)
      return this.#invalid(id, 'header.task_id: is not the one of the task that runs.');
    if (action === 'run-task') this.#run(id, frame as RunTask);
    else if (action === 'continue-task') this.#continue(frame as ContinueTask);
    else this.#finish(frame as FinishTask);
  }

  #run(id: string, { payload: { model = '', parameters } }: RunTask): void {
    const modelId = this.options.model.id;
    if (model !== '' && model !== modelId)
      return this.#invalid(id, `payload.model: must be ${modelId}, the model of this connection.`);
    const normalizedId = id.replaceAll('-', '').toLowerCase();
    if (this.#usedTaskIds.has(normalizedId))
      return this.#invalid(id, `header.task_id: ${id} was used before.`);
    this.#usedTaskIds.add(normalizedId);
    this.#task = {
      id,
      parameters,
      buffer: '',
      texts: 0,
      receivedCharacters: 0,
      spokenCharacters: 0,
      sentences: 0,
    };
    this.#setState('starting', idleTimeoutMs);
    this.confirmLater(() => {
      void SampleStream.open(audioSettings(parameters)).then((audio) => {
        if (this.isClosed) return audio.close();
        this.#audio = audio;
        this.#sendEvent('TaskStarted', id);
        this.#setState('running', textTimeoutMs);
      });
    });
  }

  #continue({ header, payload: { input } }: ContinueTask): void {
    const task = this.#task;
    if (task === undefined) return;
    this.#setState('running', textTimeoutMs);
    const { text = '', flush = false } = input;
    if (text !== '') task.texts += 1;
    const characters = billingCharacters(text, task.parameters.enable_ssml);
    task.receivedCharacters += characters;
    const limit = [
      {
        isExceeded: task.parameters.enable_ssml === true && task.texts > 1,
        rule: 'only one with enable_ssml',
      },
      { isExceeded: characters > maxTextLength, rule: `at most ${maxTextLength} billing characters` },
      {
        isExceeded: task.receivedCharacters > maxTaskLength,
        rule: `at most ${maxTaskLength} billing characters in one task`,
      },
    ].find(({ isExceeded }) => isExceeded);
    if (limit !== undefined) return this.#invalid(header.task_id, `payload.input.text: ${limit.rule}.`);
    task.buffer += text;
    this.#speakSentences(task, flush);
  }

  #finish({ header }: FinishTask): void {
    const task = this.#task;
    if (task === undefined) return;
    const isSpoken = task.buffer === '';
    this.#speakSentences(task, true, true);
    // All audio belongs to a sentence. The last one may have ended, so the rest is sent as a sentence without text.
    const rest = isSpoken && task.sentences > 0 ? this.#finishAudio() : [];
    if (rest.length > 0) this.#sendSentence(task, '', rest);
    this.#closeAudio();
    const usage = usageOf(this.options.model, task.spokenCharacters);
    this.#sendEvent('TaskFinished', header.task_id, {
      'header.attributes.request_uuid': crypto.randomUUID(),
      'payload.usage': usage,
    });
    this.#task = undefined;
    this.#setState('idle', idleTimeoutMs);
  }

  /** Speaks the complete sentences, or the whole text. The last sentence of a task includes the end of the audio. */
  #speakSentences(task: Task, all: boolean, isEnd = false): void {
    for (;;) {
      const { sentence, rest } = splitSentence(task.buffer, all);
      if (sentence === '') return;
      task.buffer = rest;
      this.#speakSentence(task, sentence, isEnd && rest === '');
    }
  }

  #speakSentence(task: Task, sentence: string, isLast: boolean): void {
    task.spokenCharacters += billingCharacters(sentence, task.parameters.enable_ssml);
    const chunks = this.#audio?.repeat() ?? [];
    this.#sendSentence(task, sentence, isLast ? [...chunks, ...this.#finishAudio()] : chunks);
  }

  #sendSentence(task: Task, sentence: string, chunks: readonly Buffer[]): void {
    const { parameters, id } = task;
    const index = task.sentences;
    task.sentences += 1;
    const words = parameters.word_timestamp_enabled === true ? wordsOf(sentence, sampleMs) : [];
    const step = (type: string, spokenWords: JsonObject[] = []) =>
      this.#sendEvent(
        'ResultGenerated',
        id,
        {
          'payload.output.sentence': { index, words: spokenWords },
          'payload.output.original_text': sentence,
          'payload.usage': usageOf(this.options.model, task.spokenCharacters),
        },
        type,
      );
    step('sentence-begin');
    for (const [at, chunk] of chunks.entries()) {
      step('sentence-synthesis', at === 0 ? words : []);
      this.sendAudio(chunk);
      this.afterAudio();
    }
    step('sentence-end');
  }

  /** Returns the end of the audio. Some formats have none. */
  #finishAudio(): Buffer[] {
    return [this.#audio?.finish() ?? Buffer.alloc(0)].filter(({ length }) => length > 0);
  }

  #closeAudio(): void {
    this.#audio?.close();
    this.#audio = undefined;
  }

  override hang(): void {
    super.hang();
    this.#closeAudio();
  }

  #sendEvent(message: string, id: string, values: Record<string, Json> = {}, example?: string): void {
    this.send(withValues(payloadOf(message, example), { ...values, 'header.task_id': id }));
  }

  #setState(state: InferenceState, silenceMs: number): void {
    this.#state = state;
    this.restartSilenceTimer(silenceMs);
  }

  #invalid(id: string | undefined, message: string): void {
    this.#taskFailed(id, 'InvalidParameter', message, 1007);
  }

  fail({ inference, message, close }: Failure): void {
    this.#taskFailed(undefined, inference, message, close);
  }

  /** Fails the running task or the named one. Without either, it only closes the socket. */
  #taskFailed(
    namedId: string | undefined,
    code: string,
    message: string,
    close: number,
    reason?: string,
  ): void {
    const id = this.#task?.id ?? namedId;
    if (id !== undefined)
      this.#sendEvent('TaskFailed', id, { 'header.error_code': code, 'header.error_message': message });
    this.close(close, reason);
  }

  protected onSilence(): void {
    if (this.#state === 'running')
      this.#taskFailed(undefined, 'CLIENT_ERROR', 'The client sent no text for 23 seconds.', 1000, 'timeout');
    else this.close(1000, 'idle');
  }
}

/** Returns the settings of the audio. The parameters are those of the contract. */
function audioSettings({
  format = 'mp3',
  sample_rate = 22_050,
  bit_rate,
}: Task['parameters']): AudioSettings {
  const bitRate = format === 'opus' && bit_rate !== undefined ? { bitRate: bit_rate * 1000 } : {};
  return { format, sampleRate: sample_rate, channels: 1, ...bitRate };
}
