import type { SpokenWord } from '../../../generated/events.ts';
import { decodeBase64 } from '../../base64.ts';
import type { SpeechRequest, Unigate } from '../../index.ts';
import type { TimedWord } from '../parts/timed-words.tsx';
import { timeWords } from './timed-text.ts';

/** A complete file with its measurements. */
export interface SpokenFile {
  file: Blob;
  format: string;
  words: readonly TimedWord[];
  requestId: string | undefined;
  firstByteMs: number;
  totalMs: number;
}

const formatOf: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/ogg': 'opus',
  'audio/opus': 'opus',
  'audio/flac': 'flac',
};

/** Synthesizes a file. With word times, the gateway sends it as events. */
export function generate(client: Unigate, body: SpeechRequest, signal: AbortSignal): Promise<SpokenFile> {
  return body.stream_format === 'sse' ? fromEvents(client, body, signal) : complete(client, body, signal);
}

async function complete(client: Unigate, body: SpeechRequest, signal: AbortSignal): Promise<SpokenFile> {
  const startedAt = performance.now();
  const audio = await client.speech.create({ ...body, stream_format: 'audio' }, { signal });
  const firstByteMs = performance.now() - startedAt;
  const file = new Blob([await audio.bytes()], { type: audio.contentType });
  const [type = ''] = audio.contentType.split(';');
  return {
    file,
    format: formatOf[type] ?? body.response_format ?? 'wav',
    words: [],
    requestId: audio.requestId,
    firstByteMs,
    totalMs: performance.now() - startedAt,
  };
}

async function fromEvents(client: Unigate, body: SpeechRequest, signal: AbortSignal): Promise<SpokenFile> {
  const startedAt = performance.now();
  const { stream_format: _, ...request } = body;
  const events = client.speech.events(request, { signal });
  const chunks: BlobPart[] = [];
  const words: SpokenWord[] = [];
  let firstByteMs: number | undefined;
  for await (const { output } of events) {
    if (!output || !('audio' in output)) continue;
    const data = output.audio?.data ?? '';
    if (data !== '') {
      firstByteMs ??= performance.now() - startedAt;
      chunks.push(new Uint8Array(decodeBase64(data)));
    }
    if ('sentence' in output) words.push(...(output.sentence.words ?? []));
  }
  const format = body.response_format ?? 'mp3';
  const totalMs = performance.now() - startedAt;
  return {
    file: new Blob(chunks, { type: format === 'mp3' ? 'audio/mpeg' : `audio/${format}` }),
    format,
    words: timeWords(body.input, words),
    requestId: events.requestId,
    firstByteMs: firstByteMs ?? totalMs,
    totalMs,
  };
}
