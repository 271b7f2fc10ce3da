import { randomUUID } from 'node:crypto';
import type { OperationId } from '../../generated/operations.ts';
import { openSocketInTurn } from '../channels/socket.ts';
import { Failure } from '../failure.ts';
import type { OperationRequest, Reply } from '../http/handler.ts';
import { contentTypes } from '../providers/native/audio-file.ts';
import { type BridgedPiece, BridgedSpeech } from '../providers/native/bridge.ts';
import type { AudioFormat } from '../providers/native/speech-request.ts';
import { resumed } from './audio-answer.ts';
import type { SpeechJob, SpeechRun } from './speak.ts';

/** Speaks over the duplex socket: for models without an HTTP route. Answers with bytes, or with native events. */
export function overSocket(
  { gateway }: OperationRequest<OperationId>,
  reply: Reply<OperationId>,
  { model, native }: SpeechJob,
  format: AudioFormat,
  events: boolean,
): SpeechRun {
  return async (channels, metering, course) => {
    const { signal } = course;
    const opened = await openSocketInTurn(
      channels,
      { path: '/api-ws/v1/inference', model: model.id, signal },
      gateway.logger,
    );
    const { channel, socket } = opened;
    course.channel = channel.name;
    const speech = new BridgedSpeech(opened, model, native.body);
    course.progress = speech;
    const leave = () => socket.terminate();
    signal.addEventListener('abort', leave, { once: true });
    const settle = async () => {
      if (!speech.delivered) throw new Failure(502, 'bad_response', 'The provider gave no audio.');
      await metering.charge(speech.usage ?? metering.expected, { channel: channel.name, status: 200 });
    };
    const pieces = speech.pieces();
    const body = events ? asEvents(pieces, speech, settle) : asAudio(pieces, settle);
    // A refusal before the first piece still becomes an error with a status.
    const first = await body.next();
    if (first.done) throw new Failure(502, 'bad_response', 'The provider gave no audio.');
    const contentType = events ? 'text/event-stream; charset=utf-8' : contentTypes[format];
    await reply.stream(200, contentType, resumed(first.value, body));
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
async function* asEvents(
  pieces: AsyncGenerator<BridgedPiece>,
  speech: BridgedSpeech,
  settle: () => Promise<void>,
): AsyncGenerator<Buffer> {
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
  for await (const piece of pieces) {
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
