import type { ContinueTask, FinishTask, RunTask } from '../../../generated/events.ts';
import type { Json, JsonObject } from '../../../openapi/tools/document.ts';
import { quoted } from '../../../server/models/catalogue.ts';
import { countCharacters } from '../../../server/models/usage.ts';
import { readSynthesisAudio } from '../../../server/sandbox/native/audio-settings.ts';
import { Parameters } from '../../../server/sandbox/native/parameters.ts';
import { UsedIds } from '../../../server/sockets/frames.ts';
import {
  invalidParameter,
  noText,
  outOfOrder,
  type TaskFailure,
} from '../../../server/sockets/inference/errors.ts';
import {
  readTaskFrame,
  type TaskFrame,
  type TaskState,
  taskMoves,
} from '../../../server/sockets/inference/states.ts';
import { TextLimits } from '../../../server/sockets/inference/text-limits.ts';
import { idleTimeoutMs, textTimeoutMs } from '../../../server/sockets/limits.ts';
import { SampleStream, sampleMs } from '../sample-audio.ts';
import { costOf, usageOf } from './billing.ts';
import { payloadOf, withValues } from './examples.ts';
import type { Failure } from './scripts.ts';
import { splitSentence, wordsOf } from './sentences.ts';
import { MockSession } from './session.ts';

interface Task {
  id: string;
  parameters: RunTask['payload']['parameters'];
  buffer: string;
  limits: TextLimits;
  /** Billing characters. */
  spokenCharacters: number;
  sentences: number;
}

/** The server side of an inference socket, with the examples of the document. */
export class InferenceSession extends MockSession {
  readonly #usedIds = new UsedIds();
  /** A task finishes synchronously, so the session never stays in the state `finishing`. */
  #state: TaskState = 'idle';
  #task: Task | undefined;
  #audio: SampleStream | undefined;

  protected handleText(text: string): void {
    const read = readTaskFrame(text);
    if ('problem' in read) return this.#failTask(invalidParameter(read.problem), read.taskId);
    this.#handle(read);
  }

  #handle({ action, frame }: TaskFrame): void {
    const { task_id: id } = frame.header;
    const move = taskMoves[this.#state][action];
    if ('refused' in move) return this.#failTask(outOfOrder(`${action}: ${move.refused}`), id);
    if (action === 'run-task') return this.#run(id, frame);
    if (this.#task?.id !== id)
      return this.#failTask(invalidParameter('header.task_id: must be the id of the running task.'), id);
    if (action === 'continue-task') this.#continue(this.#task, frame);
    else this.#finish(this.#task, frame);
  }

  #run(id: string, { payload: { model = '', parameters } }: RunTask): void {
    const modelId = this.options.model.id;
    if (model !== '' && model !== modelId)
      return this.#failTask(
        invalidParameter(`payload.model: must be ${modelId}, the model of this connection.`),
        id,
      );
    if (!this.#usedIds.add(id.replaceAll('-', '').toLowerCase()))
      return this.#failTask(invalidParameter(`header.task_id: ${quoted(id)} was used before.`), id);
    this.#task = {
      id,
      parameters,
      buffer: '',
      limits: new TextLimits(parameters.enable_ssml === true),
      spokenCharacters: 0,
      sentences: 0,
    };
    this.#setState('starting', idleTimeoutMs);
    this.confirmLater(() => {
      void SampleStream.open(readSynthesisAudio(new Parameters({ ...parameters }, 'parameters'))).then(
        (audio) => {
          if (this.isClosed) return audio.close();
          this.#audio = audio;
          this.#sendEvent('TaskStarted', id);
          this.#setState('running', textTimeoutMs);
        },
      );
    });
  }

  #continue(task: Task, { payload: { input } }: ContinueTask): void {
    this.#setState('running', textTimeoutMs);
    const { text = '', flush = false } = input;
    const failure = task.limits.check(text);
    if (failure !== undefined) return this.#failTask(failure);
    task.buffer += text;
    this.#speakSentences(task, flush);
  }

  #finish(task: Task, { header }: FinishTask): void {
    const isSpoken = task.buffer === '';
    this.#speakSentences(task, true, true);
    // All audio belongs to a sentence. The last one may have ended, so the rest is sent as a sentence without text.
    const rest = isSpoken && task.sentences > 0 ? this.#finishAudio() : [];
    if (rest.length > 0) this.#sendSentence(task, '', rest);
    this.#closeAudio();
    const { model } = this.options;
    const { spokenCharacters } = task;
    const cost = costOf(model, spokenCharacters);
    const usage = { ...usageOf(model, spokenCharacters), ...(cost > 0 && { cost }) };
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
    task.spokenCharacters += countCharacters(sentence, { ssml: task.parameters.enable_ssml === true });
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

  #setState(state: TaskState, silenceMs: number): void {
    this.#state = state;
    this.restartSilenceTimer(silenceMs);
  }

  fail({ inference, message, close }: Failure): void {
    this.#failTask({ code: inference, message, close });
  }

  /** Fails the running task or the named one. Without either, it only closes the socket. */
  #failTask({ code, message, close, reason }: Omit<TaskFailure, 'status'>, namedId?: string): void {
    const id = this.#task?.id ?? namedId;
    if (id !== undefined)
      this.#sendEvent('TaskFailed', id, { 'header.error_code': code, 'header.error_message': message });
    this.close(close, reason);
  }

  protected onSilence(): void {
    if (this.#state === 'running') this.#failTask(noText);
    else this.close(1000, 'idle');
  }
}
