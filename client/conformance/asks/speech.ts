import type { OperationId } from '../../../generated/operations.ts';
import type { World } from '../subject/world.ts';
import type { Ask } from './ask.ts';

const voxa = { model: 'voxa-v3-flash', input: 'Good morning.', voice: 'voxanna' };
const alpha3 = { model: 'alpha3-tts-flash', input: 'Good morning.', voice: 'Aria' };
const beta = { model: 'beta/speech-02-turbo', input: 'Good morning.', voice: 'beta_female_calm' };

const spoken: readonly [string, { [field: string]: string | boolean }][] = [
  ['audio/mpeg', voxa],
  ['audio/wav', { ...voxa, response_format: 'wav' }],
  ['audio/pcm', { ...voxa, response_format: 'pcm' }],
  ['audio/ogg', { ...voxa, response_format: 'opus' }],
  ['audio/flac', { ...beta, response_format: 'flac' }],
  ['audio/mpeg', { ...beta, stream: true }],
  ['audio/pcm', { ...alpha3, stream: true }],
  ['text/event-stream', { ...alpha3, stream: true, stream_format: 'sse' }],
  ['text/event-stream', { ...voxa, stream: true, stream_format: 'sse' }],
  ['text/event-stream', { ...beta, stream: true, stream_format: 'sse' }],
];

const native = { headers: { 'x-native-sse': 'enable' } };

/** Audio in every form that it has. */
export const speechSuccesses: Partial<Record<OperationId, (world: World) => Ask[]>> = {
  createSpeech: () =>
    spoken.map(([type, body]) => ({
      name: `200 ${type} of ${body.model}${body.stream === true ? ', streamed' : ''}`,
      status: 200,
      type,
      variation: { body },
    })),
  synthesizeSpeech: () => [
    { name: '200 native events', status: 200, type: 'text/event-stream', variation: native },
  ],
  generateMultimodalSpeech: () =>
    ['alpha3', 'beta'].map((example) => ({
      name: `200 native events of ${example}`,
      status: 200,
      type: 'text/event-stream',
      variation: { example, ...native },
    })),
  openRealtimeSocket: () => [
    { name: '101 a handshake', status: 101, way: 'handshake' },
    {
      name: '400 a model of another route',
      status: 400,
      way: 'handshake',
      variation: { query: { model: 'alpha3-tts-flash' } },
      expected: { code: 'invalid_request', names: 'model' },
    },
  ],
  openInferenceSocket: () => [{ name: '101 a handshake', status: 101, way: 'handshake' }],
};
