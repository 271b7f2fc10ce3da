import { randomUUID } from 'node:crypto';
import type { OperationId } from '../../../generated/operations.ts';
import type { OpenedSocket } from '../../channels/socket.ts';
import type { Reply } from '../../http/handler.ts';
import { contentTypes } from '../../providers/native/audio-file.ts';
import { type BridgedPiece, BridgedSpeech } from '../../providers/native/bridge.ts';
import type { AudioFormat } from '../../providers/native/speech-request.ts';
import type { CallAnswer } from '../metered-call.ts';
import { noAudio, streamFromFirst } from './audio-answer.ts';
import type { SpeechJob } from './speak.ts';

/** Answers with what the duplex socket brings: bytes of audio, or native events. */
export function answerFromSocket(
  reply: Reply<OperationId>,
  { model, native, events }: SpeechJob,
  format: AudioFormat,
): CallAnswer<OpenedSocket> {
  return async (opened, call) => {
    const meter = new BridgedSpeech(opened, model, native.body);
    const leave = () => {
      opened.attempt.release();
      opened.socket.terminate();
    };
    call.signal.addEventListener('abort', leave, { once: true });
    const settle = async () => {
      if (!meter.delivered) throw noAudio();
      await call.settle(meter);
    };
    const body = events ? asEvents(meter, settle) : asAudio(meter.pieces(), settle);
    const contentType = events ? 'text/event-stream; charset=utf-8' : contentTypes[format];
    return { meter, send: () => streamFromFirst(reply, contentType, body) };
  };
}

async function* asAudio(
  pieces: AsyncGenerator<BridgedPiece>,
  settle: () => Promise<void>,
): AsyncGenerator<Buffer> {
  for await (const piece of pieces) if ('audio' in piece) yield piece.audio;
  await settle();
}

/** The events that the HTTP route of the sibling models sends: audio goes into the event that announced it. */
async function* asEvents(speech: BridgedSpeech, settle: () => Promise<void>): AsyncGenerator<Buffer> {
  const requestId = randomUUID();
  const facts = { id: `audio_${requestId}` };
  let count = 0;
  const event = (output: object): Buffer => {
    count += 1;
    const data = { request_id: requestId, output, usage: { characters: speech.usage?.units ?? 0 } };
    return Buffer.from(`id:${count}\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify(data)}\n\n`);
  };
  const running = (output: object, audio: Buffer) =>
    event({ finish_reason: 'null', ...output, audio: { data: audio.toString('base64'), ...facts } });
  const nothing = Buffer.alloc(0);
  let announced: object | undefined;
  for await (const piece of speech.pieces()) {
    if ('audio' in piece) {
      yield running(announced ?? {}, piece.audio);
      announced = undefined;
      continue;
    }
    if (announced !== undefined) yield running(announced, nothing);
    announced = piece.output;
    if (piece.output.type === 'sentence-synthesis') continue;
    yield running(announced, nothing);
    announced = undefined;
  }
  if (announced !== undefined) yield running(announced, nothing);
  await settle();
  yield event({ finish_reason: 'stop', audio: { data: '', ...facts } });
}
