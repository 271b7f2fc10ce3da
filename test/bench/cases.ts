import assert from 'node:assert/strict';
import { audioFile, speakable, speechEvents } from './payloads.ts';

export const synthesizerPath = '/api/v1/services/audio/tts/SpeechSynthesizer';
export const multimodalPath = '/api/v1/services/aigc/multimodal-generation/generation';
export const speechPath = '/v1/audio/speech';

/** Length of the text in every request, and the billing characters of every response. */
export const characters = 600;

interface CaseTarget {
  measure: 'requests' | 'bytes';
  /** Minimum ratio to the raw proxy. */
  share: number;
  /** Maximum CPU of the gateway per request. */
  cpuMicroseconds?: number;
  /** Maximum latency in milliseconds added to the median of the raw proxy, with one connection. */
  addedMs?: number;
}

export interface BenchCase {
  name: string;
  title: string;
  path: string;
  headers: Readonly<Record<string, string>>;
  body: object;
  /** Targets of the project. */
  target: CaseTarget;
  /** @throws AssertionError if a 200 response has unexpected content */
  check(contentType: string, body: Buffer): void;
}

const nativeRequest = (model: string, voice: string, more: object = {}) => ({
  model,
  input: { text: speakable(characters), voice, ...more },
});

function checkReply(contentType: string, body: Buffer): void {
  assert.match(contentType, /^application\/json/);
  const reply = JSON.parse(body.toString()) as {
    output: { finish_reason: string; audio: { url: string } };
    usage: { characters: number };
  };
  assert.equal(reply.output.finish_reason, 'stop');
  assert.equal(typeof reply.output.audio.url, 'string');
  assert.equal(reply.usage.characters, characters);
}

export const cases: readonly BenchCase[] = [
  {
    name: 'json',
    title: 'small JSON',
    path: synthesizerPath,
    headers: {},
    body: nativeRequest('voxa-v3-flash', 'voxanna', {
      format: 'mp3',
      sample_rate: 24000,
      volume: 50,
      rate: 1,
      pitch: 1,
      seed: 7,
      language_hints: ['en'],
      instruction: speakable(100),
    }),
    target: { measure: 'requests', share: 0.6, cpuMicroseconds: 70, addedMs: 1 },
    check: checkReply,
  },
  {
    name: 'audio',
    title: '100 KB audio',
    path: speechPath,
    headers: {},
    body: {
      model: 'voxa-v3-flash',
      input: speakable(characters),
      voice: 'voxanna',
      response_format: 'mp3',
    },
    target: { measure: 'bytes', share: 0.8 },
    check(contentType, body) {
      assert.match(contentType, /^audio\/mpeg/);
      assert(body.equals(audioFile), 'the audio differs from that of the upstream');
    },
  },
  {
    name: 'sse',
    title: 'SSE, 100 events',
    path: synthesizerPath,
    headers: { 'x-native-sse': 'enable' },
    body: nativeRequest('voxa-v3-flash', 'voxanna'),
    target: { measure: 'bytes', share: 0.8 },
    check(contentType, body) {
      assert.match(contentType, /^text\/event-stream/);
      const url = /"url":"([^"]*)"/.exec(body.toString())?.[1] ?? '';
      // The gateway adds the charge, at a price of one per character.
      const cost = body.includes('"cost":') ? characters : undefined;
      assert.equal(body.toString(), speechEvents(url, characters, cost).join(''));
    },
  },
  {
    name: 'multimodal',
    title: 'small JSON, another path',
    path: multimodalPath,
    headers: {},
    body: nativeRequest('alpha3-tts-flash', 'Aria', { language_type: 'English' }),
    target: { measure: 'requests', share: 0.6, cpuMicroseconds: 77 },
    check: checkReply,
  },
];
