import { createInterface } from 'node:readline';
import { addAbortSignal } from 'node:stream';
import type { RealtimeSessionOptions } from '../../generated/events.ts';
import type { InferenceTaskOptions } from '../inference/inference-task.ts';
import type { SpeechText } from '../sockets/speak-text.ts';
import type { Unigate } from '../unigate.ts';
import { wavHeader } from '../wav-header.ts';
import { readFormat, readNumber } from './audio-options.ts';
import type { Options } from './command-line.ts';
import { withFormatHint } from './format-hint.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';
import { writeAudio } from './write-output.ts';

const knownFormats = ['pcm', 'wav', 'mp3', 'opus'] as const;
const wavSampleRate = 24_000;

interface SpeechOptions {
  voice: string;
  format: (typeof knownFormats)[number] | undefined;
  sampleRate: number | undefined;
  speed: number | undefined;
  instructions: string | undefined;
}

/** `unigate speak --realtime` and `--duplex`: streams the text to the gateway and the audio to the output. */
export async function speakLive(
  client: Unigate,
  text: string,
  options: Options & { output: string; voice: string },
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  if (options.realtime && options.duplex) throw new UsageError('--realtime and --duplex cannot be combined.');
  if (text.trim() === '') throw new UsageError('The text is empty.');
  const format = readFormat(options.format, options.output, knownFormats);
  const sampleRate = readNumber(options, 'sample-rate');
  const speech: SpeechOptions = {
    voice: options.voice,
    format,
    sampleRate,
    speed: readNumber(options, 'speed'),
    instructions: options.instructions,
  };
  // Each response of a session is a separate WAV file, so one WAV file is built from PCM.
  const wavRate = format === 'wav' ? (sampleRate ?? wavSampleRate) : undefined;
  if (wavRate !== undefined) Object.assign(speech, { format: 'pcm', sampleRate: wavRate });
  const header = wavRate === undefined ? undefined : (bytes?: number) => wavHeader(wavRate, bytes);

  const input = text === '-' ? readLines(terminal, signal) : text;
  const receive = options.realtime ? receiveRealtime : receiveDuplex;
  const audio = receive(client, options.model, input, speech, signal);
  try {
    await writeAudio(audio, options.output, options, terminal, signal, header);
  } catch (error) {
    throw await withFormatHint(client, error, format, 'realtime');
  } finally {
    // An open standard input must not keep the process alive.
    if (text === '-') terminal.stdin.destroy();
  }
}

async function* receiveRealtime(
  client: Unigate,
  model = 'alpha3-tts-flash-realtime',
  text: SpeechText,
  { voice, format, sampleRate, speed, instructions }: SpeechOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const session = await client.realtime(model, { signal });
  yield* session.speak(text, {
    voice,
    response_format: format,
    sample_rate: sampleRate as RealtimeSessionOptions['sample_rate'],
    speech_rate: speed,
    instructions,
  });
}

async function* receiveDuplex(
  client: Unigate,
  model = 'voxa-v3-flash',
  text: SpeechText,
  { voice, format, sampleRate, speed, instructions }: SpeechOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const connection = await client.inference(model, { signal });
  yield* connection.speak(text, {
    voice,
    format,
    sample_rate: sampleRate as InferenceTaskOptions['sample_rate'],
    rate: speed,
    instruction: instructions,
  });
  await connection.close();
}

async function* readLines({ stdin }: Terminal, signal: AbortSignal): AsyncGenerator<string, void> {
  for await (const line of createInterface({ input: addAbortSignal(signal, stdin) })) yield `${line}\n`;
}
