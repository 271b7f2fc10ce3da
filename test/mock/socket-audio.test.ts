import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { completeWav } from '../../server/sandbox/speech/encoders/wav.ts';
import {
  type InspectedAudio,
  inspectMp3,
  inspectOpus,
  inspectPcm,
  inspectWav,
  level,
} from '../sandbox/audio-inspection.ts';
import { sampleMs } from './sample-audio.ts';
import { append, eventOf, finish, headerOf, run, text, update } from './sockets/client-events.ts';
import { serveSockets } from './sockets/serve-sockets.ts';

let mock: Awaited<ReturnType<typeof serveSockets>>;
beforeAll(async () => {
  mock = await serveSockets();
});
afterAll(() => mock.close());

/** Sends the first event, and the others after its confirmation. Returns all audio of the connection, joined. */
async function receiveAudio(path: string, first: object, others: readonly object[]): Promise<Buffer> {
  const socket = new WebSocket(mock.url + path, { headers: { authorization: 'Bearer k' } });
  const chunks: Buffer[] = [];
  socket.on('open', () => socket.send(JSON.stringify(first)));
  socket.on('message', (data: Buffer, binary) => {
    if (binary) return void chunks.push(data);
    const event = JSON.parse(data.toString()) as {
      type?: string;
      delta?: string;
      header?: { event: string };
    };
    const name = event.type ?? event.header?.event;
    if (name === 'session.updated' || name === 'task-started')
      for (const other of others) socket.send(JSON.stringify(other));
    if (name === 'response.audio.delta') chunks.push(Buffer.from(event.delta ?? '', 'base64'));
    if (name === 'task-finished') socket.close(1000);
  });
  await once(socket, 'close');
  return Buffer.concat(chunks);
}

/** Decodes a complete stream. Throws if a player would reject it. */
async function decode(file: Buffer, format: string, rate: number): Promise<InspectedAudio> {
  if (format === 'pcm') return inspectPcm(file, rate);
  if (format === 'opus') return inspectOpus(file);
  if (format === 'wav') {
    completeWav(file);
    return inspectWav(file);
  }
  const { busiest, ...mp3 } = inspectMp3(file);
  return { ...mp3, samples: Float32Array.of(busiest) };
}

const formats: readonly [format: string, rate: number][] = [
  ['pcm', 24_000],
  ['wav', 48_000],
  ['mp3', 24_000],
  ['opus', 16_000],
];

function expectSpeech(
  { sampleRate, channels, seconds, samples }: InspectedAudio,
  rate: number,
  times: number,
) {
  expect([sampleRate, channels]).toEqual([rate, 1]);
  // A codec adds up to three frames of silence.
  expect(seconds).toBeGreaterThan((times * sampleMs) / 1000 - 0.01);
  expect(seconds).toBeLessThan((times * sampleMs) / 1000 + 0.15);
  expect(level(samples)).toBeGreaterThan(0.01);
}

describe.each(formats)('audio as %s at %i Hz is playable', (format, rate) => {
  test('on the realtime socket', async () => {
    const file = await receiveAudio(
      '/v1/realtime?model=alpha3-tts-flash-realtime',
      update({ voice: 'Aria', response_format: format, sample_rate: rate }),
      [append('Good day.'), eventOf('session.finish')],
    );
    expectSpeech(await decode(file, format, rate), rate, 1);
  });

  test('on the inference socket, as one stream for all sentences', async () => {
    const file = await receiveAudio(
      '/api-ws/v1/inference?model=voxa-v3-flash',
      run({ format, sample_rate: rate }),
      [text('Good day. Good night.'), finish],
    );
    expectSpeech(await decode(file, format, rate), rate, 2);
  });

  test('on the inference socket, if no text remains at the end', async () => {
    const file = await receiveAudio(
      '/api-ws/v1/inference?model=voxa-v3-flash',
      run({ format, sample_rate: rate }),
      [{ header: headerOf('continue-task'), payload: { input: { text: 'Good day.', flush: true } } }, finish],
    );
    expectSpeech(await decode(file, format, rate), rate, 1);
  });
});
