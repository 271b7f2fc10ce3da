import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { OperationId } from '../../../generated/operations.ts';
import type { ForwardHooks, OperationRequest, Reply } from '../../http/handler.ts';
import type { Failure } from '../../lib/failure.ts';
import type { HttpResponse } from '../../outbound/send-request.ts';
import { AudioInspector, EventAudioDecoder, openAudio, typeOfFile } from '../../providers/native/audio.ts';
import { audioType, contentTypes, headLength } from '../../providers/native/audio-file.ts';
import {
  audioSource,
  evaluateSpeech,
  parseResponse,
  readLimited,
} from '../../providers/native/json-response.ts';
import type { AudioFormat } from '../../providers/native/speech-request.ts';
import { redactorFor } from '../../providers/provider-redactor.ts';
import { readRejection, rejectionFailure } from '../../providers/rejection.ts';
import { EmptyResponseFailure } from '../../providers/unusable-response.ts';
import type { Usage } from '../../quota/metering.ts';
import type { CallMeter, CallOutput, CallResponder } from '../metered-call.ts';
import { requireEvents } from './native-response.ts';

/** Longest native response with finished audio or its URL. */
const maxResponseBytes = 32 * 1024 * 1024;
/** A file up to this size is read before it is sent, so that a header can state the charge. A longer one is streamed. */
const maxHeldBytes = 1024 * 1024;

/** Responds with the finished audio, which is in the native response or in a file that it names. */
export function respondWithFile(
  reply: Reply<OperationId>,
  model: CatalogueModel,
  format: AudioFormat,
  { gateway: { logger }, caller }: OperationRequest<OperationId>,
): CallResponder {
  return async (channelResponse, { signal, settle }) => {
    const { response, channel } = channelResponse;
    const redactor = redactorFor(channelResponse);
    if (response.status !== 200) throw rejectionFailure(await readRejection(response, redactor));
    const parsed = parseResponse(response.headers, await readLimited(response, maxResponseBytes));
    const { usage, rejection } = evaluateSpeech(parsed, model.unit, redactor);
    if (rejection !== undefined) throw rejection;
    const source = audioSource(parsed);
    if (source === undefined) throw noAudio();
    if ('bytes' in source) {
      const { bytes } = source;
      const type = audioType(format, bytes.subarray(0, headLength));
      if (type === undefined) throw noAudio();
      return sendAudio(reply, { type, bytes }, usage, settle);
    }
    const file = { channel, user: caller.userId, logger, signal };
    const opened = await openAudio(source.url, file);
    const { 'content-length': size } = opened.headers;
    if (size === undefined || Number(size) > maxHeldBytes)
      return forwardAudio(reply, opened, format, usage, settle);
    const bytes = await readLimited(opened, maxHeldBytes);
    return sendAudio(reply, { type: typeOfFile(format, bytes, opened.headers), bytes }, usage, settle);
  };
}

/** Responds with the decoded audio of the native events as they arrive. */
export function respondWithAudio(
  reply: Reply<OperationId>,
  model: CatalogueModel,
  format: AudioFormat,
): CallResponder {
  return async (channelResponse, { settle }) => {
    const { response } = channelResponse;
    const redactor = redactorFor(channelResponse);
    if (response.status !== 200) throw rejectionFailure(await readRejection(response, redactor));
    await requireEvents(response);
    const meter = new EventAudioDecoder(model.unit, redactor);
    async function* decoded(): AsyncGenerator<Buffer> {
      yield* meter.decode(response.body);
      if (meter.delivered) await settle(meter);
    }
    return { meter, send: () => streamFromFirst(reply, contentTypes[format], decoded()) };
  };
}

/**
 * Sends a stream after its first chunk has arrived, so that an earlier failure still gets an error status.
 *
 * @throws Failure 502 when the stream is empty.
 */
export async function streamFromFirst(
  reply: Reply<OperationId>,
  contentType: string,
  chunks: AsyncGenerator<Buffer>,
): Promise<void> {
  const first = await chunks.next();
  if (first.done) throw noAudio();
  await reply.stream(200, contentType, prepend(first.value, chunks));
}

async function* prepend(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

export function noAudio(): Failure {
  return new EmptyResponseFailure('The provider returned no audio.');
}

/** Sends complete audio after the settlement. */
function sendAudio(
  reply: Reply<OperationId>,
  { type, bytes }: { type: string; bytes: Buffer },
  usage: Usage | undefined,
  settle: (meter: CallMeter) => Promise<unknown>,
): CallOutput {
  return {
    meter: { usage, delivered: false },
    async send() {
      await settle({ usage, delivered: true });
      reply.bytes(200, type, bytes);
    },
  };
}

/** Forwards a file. Its last byte, or its end if the length is unknown, waits for the settlement. */
function forwardAudio(
  reply: Reply<OperationId>,
  { headers, body }: HttpResponse,
  format: AudioFormat,
  usage: Usage | undefined,
  settle: (meter: CallMeter) => Promise<unknown>,
): CallOutput {
  const audio = new AudioInspector(format, headers);
  const meter = { usage, delivered: false };
  let last: readonly Buffer[] = [];
  const hooks: ForwardHooks = {
    transform(chunk) {
      const { parts, last: lastByte } = audio.write(chunk);
      meter.delivered = audio.mediaType !== undefined;
      if (lastByte !== undefined) last = [lastByte];
      return parts;
    },
    async end() {
      const rest = audio.end();
      meter.delivered = audio.mediaType !== undefined;
      await settle(meter);
      return [...rest, ...last];
    },
  };
  const { 'content-length': size } = headers;
  const length = size === undefined ? undefined : { 'content-length': size };
  return { meter, send: () => reply.forward(200, () => audio.mediaType ?? '', body, hooks, length) };
}
