import type { CatalogueModel } from '../../generated/catalogue.ts';
import type { OperationId } from '../../generated/operations.ts';
import type { Answered } from '../channels/failover.ts';
import { Failure } from '../failure.ts';
import type { OperationRequest, Reply } from '../http/handler.ts';
import type { Metering } from '../ledger/metering.ts';
import { EventAudio, openAudio } from '../providers/native/audio.ts';
import { audioType, contentTypes, headLength } from '../providers/native/audio-file.ts';
import type { AudioFormat } from '../providers/native/speech-request.ts';
import { audioSource, judge, parseAnswer } from '../providers/native/whole-answer.ts';
import { wordsOf } from '../providers/provider-words.ts';
import { readRejection, readUpTo, rejectionFailure } from '../providers/rejection.ts';
import { requireEvents } from './native-answer.ts';
import type { SpeechAnswer } from './speak.ts';

/** Longest native answer that names or holds a finished audio, in bytes. */
const maxAnswerBytes = 32 * 1024 * 1024;

/** Answers with the finished audio's bytes: the native answer names a file, which is passed on as it is read. */
export function answerWithFile(
  reply: Reply<OperationId>,
  model: CatalogueModel,
  format: AudioFormat,
  { gateway: { logger }, caller }: OperationRequest<OperationId>,
): SpeechAnswer {
  return async (answered, metering, course) => {
    const { response, channel } = answered;
    const words = wordsOf(answered);
    if (response.status !== 200) throw rejectionFailure(await readRejection(response, words));
    const answer = parseAnswer(response.headers, await readUpTo(response.body, maxAnswerBytes));
    const { usage = metering.expected, refusal } = judge(answer, model.unit, words);
    if (refusal !== undefined) throw refusal;
    const source = audioSource(answer);
    if (source === undefined) throw noAudio();
    const settle = () => metering.charge(usage, { channel: channel.name, status: 200 });
    if ('bytes' in source) {
      const type = audioType(format, source.bytes.subarray(0, headLength));
      if (type === undefined) throw noAudio();
      await settle();
      reply.bytes(200, type, source.bytes);
      return;
    }
    const { body, size, mediaType } = await openAudio(source.url, format, {
      channel,
      user: caller.userId,
      logger,
      signal: course.signal,
    });
    course.progress = { usage, delivered: true };
    const headers = size === undefined ? undefined : { 'content-length': size };
    await reply.stream(200, mediaType, settledBeforeTheEnd(body, settle), headers);
  };
}

/** Answers with the audio of the native events, decoded, as they come. */
export function answerWithAudio(
  reply: Reply<OperationId>,
  model: CatalogueModel,
  format: AudioFormat,
): SpeechAnswer {
  return async (answered, metering, course) => {
    const { response } = answered;
    const words = wordsOf(answered);
    if (response.status !== 200) throw rejectionFailure(await readRejection(response, words));
    await requireEvents(response);
    const audio = new EventAudio(model.unit, words);
    course.progress = audio;
    const pieces = decoded(answered, audio, metering);
    // A refusal in the first event still becomes an error with a status.
    const first = await pieces.next();
    if (first.done) throw noAudio();
    await reply.stream(200, contentTypes[format], resumed(first.value, pieces));
  };
}

async function* decoded(
  { response, channel }: Answered,
  audio: EventAudio,
  metering: Metering,
): AsyncGenerator<Buffer> {
  yield* audio.decode(response.body);
  if (audio.delivered)
    await metering.charge(audio.usage ?? metering.expected, { channel: channel.name, status: 200 });
}

/** A stream whose first piece was taken already. */
export async function* resumed(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

function noAudio(): Failure {
  return new Failure(502, 'bad_response', 'The provider gave no audio.');
}

/** Keeps one piece back until the books are closed: with a known length the last byte is the end. */
async function* settledBeforeTheEnd(
  body: AsyncIterable<Buffer>,
  settle: () => Promise<void>,
): AsyncGenerator<Buffer> {
  let held: Buffer | undefined;
  for await (const chunk of body) {
    if (held !== undefined) yield held;
    held = chunk;
  }
  await settle();
  if (held !== undefined) yield held;
}
