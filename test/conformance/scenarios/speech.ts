import type { OperationId } from '../../../generated/operations.ts';
import type { RunContext } from '../context/run-context.ts';
import type { Scenario } from './scenario.ts';

const voxa = { model: 'voxa-v3-flash', input: 'Good morning.', voice: 'voxanna' };
const alpha3 = { model: 'alpha3-tts-flash', input: 'Good morning.', voice: 'Aria' };
const beta = { model: 'beta/speech-02-turbo', input: 'Good morning.', voice: 'beta_female_calm' };

const speechRequests: readonly [string, { [field: string]: string | boolean }][] = [
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

/** Speech in every audio format and as a stream. */
export const speechScenarios: Partial<Record<OperationId, (context: RunContext) => Scenario[]>> = {
  createSpeech: () =>
    speechRequests.map(([mediaType, body]) => ({
      name: `200 ${mediaType} of ${body.model}${body.stream === true ? ', streamed' : ''}`,
      status: 200,
      mediaType,
      variation: { body },
    })),
  synthesizeSpeech: () => [
    { name: '200 native events', status: 200, mediaType: 'text/event-stream', variation: native },
  ],
  generateMultimodalSpeech: () =>
    ['alpha3', 'beta'].map((example) => ({
      name: `200 native events of ${example}`,
      status: 200,
      mediaType: 'text/event-stream',
      variation: { example, ...native },
    })),
  openRealtimeSocket: () => [
    { name: '101 a handshake', status: 101, mode: 'handshake' },
    {
      name: '400 a model of another route',
      status: 400,
      mode: 'handshake',
      variation: { query: { model: 'alpha3-tts-flash' } },
      expected: { code: 'invalid_request', field: 'model' },
    },
  ],
  openInferenceSocket: () => [{ name: '101 a handshake', status: 101, mode: 'handshake' }],
};
