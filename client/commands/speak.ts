import { addAbortSignal } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import type { SpeechRequest } from '../speech.ts';
import type { Unigate } from '../unigate.ts';
import { allFormats, readFormat, readNumber } from './audio-options.ts';
import type { Invocation } from './command-line.ts';
import { withFormatHint } from './format-hint.ts';
import { speakLive } from './speak-live.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';
import { readOutput, writeAudio } from './write-output.ts';

type Body = SpeechRequest & { stream_format?: 'audio' };

/** `unigate speak`: writes speech to a file or to standard output. */
export async function speak(
  client: Unigate,
  { text, options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { voice, model = 'alpha3-tts-flash' } = options;
  const output = readOutput(options, terminal);
  if (!voice) throw new UsageError('--voice is required; unigate voices lists all voices.');
  if (options.realtime || options.duplex)
    return speakLive(client, text, { ...options, output, voice }, terminal, signal);
  const sampleRate = readNumber(options, 'sample-rate');
  const body: Body = {
    model,
    voice,
    input: '',
    response_format: readFormat(options.format, output, allFormats),
    speed: readNumber(options, 'speed'),
    instructions: options.instructions,
    stream: options.stream,
    extra_body: sampleRate === undefined ? undefined : { input: { sample_rate: sampleRate } },
  };
  body.input = text === '-' ? await readText(addAbortSignal(signal, terminal.stdin)) : text;
  if (body.input.trim() === '') throw new UsageError('The text is empty.');
  try {
    await writeAudio(receive(client, body, signal), output, options, terminal, signal);
  } catch (error) {
    throw await withFormatHint(client, error, body.response_format, 'http');
  }
}

async function* receive(client: Unigate, body: Body, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  yield* await client.speech.create(body, { signal });
}
