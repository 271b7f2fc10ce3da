import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { OperationId } from '../../../generated/operations.ts';
import type { ForwardHooks, OperationRequest, Reply } from '../../http/handler.ts';
import type { Failure } from '../../lib/failure.ts';
import type { HttpResponse } from '../../outbound/send-request.ts';
import { AudioPassage, EventAudio, openAudio } from '../../providers/native/audio.ts';
import { audioType, contentTypes, headLength } from '../../providers/native/audio-file.ts';
import type { AudioFormat } from '../../providers/native/speech-request.ts';
import { audioSource, judge, parseAnswer, readWhole } from '../../providers/native/whole-answer.ts';
import { wordsOf } from '../../providers/provider-words.ts';
import { readRejection, rejectionFailure } from '../../providers/rejection.ts';
import { EmptyAnswer } from '../../providers/unusable.ts';
import type { Usage } from '../../quota/metering.ts';
import type { CallAnswer, CallMeter, CallOutput } from '../metered-call.ts';
import { requireEvents } from './native-answer.ts';

/** Longest native answer that names or holds a finished audio, in bytes. */
const maxAnswerBytes = 32 * 1024 * 1024;

/** Answers with the finished audio's bytes: the native answer names a file, which is passed on as it is read. */
export function answerWithFile(
  reply: Reply<OperationId>,
  model: CatalogueModel,
  format: AudioFormat,
  { gateway: { logger }, caller }: OperationRequest<OperationId>,
): CallAnswer {
  return async (answered, { signal, settle }) => {
    const { response, channel } = answered;
    const words = wordsOf(answered);
    if (response.status !== 200) throw rejectionFailure(await readRejection(response, words));
    const answer = parseAnswer(response.headers, await readWhole(response, maxAnswerBytes));
    const { usage, refusal } = judge(answer, model.unit, words);
    if (refusal !== undefined) throw refusal;
    const source = audioSource(answer);
    if (source === undefined) throw noAudio();
    if ('bytes' in source) {
      const { bytes } = source;
      const type = audioType(format, bytes.subarray(0, headLength));
      if (type === undefined) throw noAudio();
      return {
        // Nothing has gone out before it is paid.
        meter: { usage, delivered: false },
        async send() {
          await settle({ usage, delivered: true });
          reply.bytes(200, type, bytes);
        },
      };
    }
    const file = { channel, user: caller.userId, logger, signal };
    return passAudio(reply, await openAudio(source.url, file), format, usage, settle);
  };
}

/** Answers with the audio of the native events, decoded, as they come. */
export function answerWithAudio(
  reply: Reply<OperationId>,
  model: CatalogueModel,
  format: AudioFormat,
): CallAnswer {
  return async (answered, { settle }) => {
    const { response } = answered;
    const words = wordsOf(answered);
    if (response.status !== 200) throw rejectionFailure(await readRejection(response, words));
    await requireEvents(response);
    const meter = new EventAudio(model.unit, words);
    async function* decoded(): AsyncGenerator<Buffer> {
      yield* meter.decode(response.body);
      if (meter.delivered) await settle(meter);
    }
    return { meter, send: () => streamFromFirst(reply, contentTypes[format], decoded()) };
  };
}

/**
 * Sends a stream, beginning with its first piece: a refusal before it still becomes an error with a status.
 *
 * @throws Failure 502 when there is no first piece.
 */
export async function streamFromFirst(
  reply: Reply<OperationId>,
  contentType: string,
  pieces: AsyncGenerator<Buffer>,
): Promise<void> {
  const first = await pieces.next();
  if (first.done) throw noAudio();
  await reply.stream(200, contentType, resumed(first.value, pieces));
}

/** A stream whose first piece was taken already. */
async function* resumed(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

export function noAudio(): Failure {
  return new EmptyAnswer('The provider gave no audio.');
}

/** What of a file that is passed on has come. */
class PassageMeter implements CallMeter {
  readonly usage: Usage | undefined;
  readonly #passage: AudioPassage;

  constructor(usage: Usage | undefined, passage: AudioPassage) {
    this.usage = usage;
    this.#passage = passage;
  }

  get delivered(): boolean {
    return this.#passage.mediaType !== undefined;
  }
}

/** Passes a file on. Its last byte, or its end where nobody knows its length, waits until the books are closed. */
function passAudio(
  reply: Reply<OperationId>,
  { headers, body }: HttpResponse,
  format: AudioFormat,
  usage: Usage | undefined,
  settle: (meter: CallMeter) => Promise<void>,
): CallOutput {
  const passage = new AudioPassage(format, headers);
  const meter = new PassageMeter(usage, passage);
  let last: readonly Buffer[] = [];
  const hooks: ForwardHooks = {
    transform(piece) {
      const taken = passage.take(piece);
      if (taken.last !== undefined) last = [taken.last];
      return taken.parts;
    },
    async end() {
      const rest = passage.end();
      await settle(meter);
      return [...rest, ...last];
    },
  };
  const { 'content-length': size } = headers;
  const length = size === undefined ? undefined : { 'content-length': size };
  return { meter, send: () => reply.forward(200, () => passage.mediaType ?? '', body, hooks, length) };
}
