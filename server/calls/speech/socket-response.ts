import { randomUUID } from 'node:crypto';
import type { OperationId } from '../../../generated/operations.ts';
import type { OpenedSocket } from '../../channels/socket.ts';
import type { Reply } from '../../http/handler.ts';
import { contentTypes } from '../../providers/native/audio-file.ts';
import { type BridgedChunk, BridgedSpeech } from '../../providers/native/bridge.ts';
import type { AudioFormat } from '../../providers/native/speech-request.ts';
import type { CallResponder } from '../metered-call.ts';
import { noAudio, streamFromFirst } from './audio-response.ts';
import type { SpeechJob } from './speak.ts';

/** Responds with the output of the duplex socket, as audio bytes or native events. */
export function respondFromSocket(
  reply: Reply<OperationId>,
  { model, native, events }: SpeechJob,
  format: AudioFormat,
): CallResponder<OpenedSocket> {
  return async (opened, call) => {
    const meter = new BridgedSpeech(opened, model, native.body);
    const abort = () => {
      opened.attempt.release();
      opened.socket.terminate();
    };
    call.signal.addEventListener('abort', abort, { once: true });
    const settle = async () => {
      if (!meter.delivered) throw noAudio();
      return call.settle(meter);
    };
    const body = events ? asEvents(meter, settle) : asAudio(meter.chunks(), settle);
    const contentType = events ? 'text/event-stream; charset=utf-8' : contentTypes[format];
    return { meter, send: () => streamFromFirst(reply, contentType, body) };
  };
}

async function* asAudio(
  chunks: AsyncGenerator<BridgedChunk>,
  settle: () => Promise<unknown>,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) if ('audio' in chunk) yield chunk.audio;
  await settle();
}

/** Yields events as the HTTP route of similar models does: audio goes into the event that announced it. */
async function* asEvents(
  speech: BridgedSpeech,
  settle: () => Promise<number | undefined>,
): AsyncGenerator<Buffer> {
  const requestId = randomUUID();
  const facts = { id: `audio_${requestId}` };
  let count = 0;
  const event = (output: object, cost?: number): Buffer => {
    count += 1;
    const usage = { characters: speech.usage?.units ?? 0, ...(cost !== undefined && { cost }) };
    const data = { request_id: requestId, output, usage };
    return Buffer.from(`id:${count}\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify(data)}\n\n`);
  };
  const running = (output: object, audio: Buffer) =>
    event({ finish_reason: 'null', ...output, audio: { data: audio.toString('base64'), ...facts } });
  const noAudioBytes = Buffer.alloc(0);
  let announced: object | undefined;
  for await (const chunk of speech.chunks()) {
    if ('audio' in chunk) {
      yield running(announced ?? {}, chunk.audio);
      announced = undefined;
      continue;
    }
    if (announced !== undefined) yield running(announced, noAudioBytes);
    announced = chunk.output;
    if (chunk.output.type === 'sentence-synthesis') continue;
    yield running(announced, noAudioBytes);
    announced = undefined;
  }
  if (announced !== undefined) yield running(announced, noAudioBytes);
  const charged = await settle();
  yield event({ finish_reason: 'stop', audio: { data: '', ...facts } }, charged);
}
