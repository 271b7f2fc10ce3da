import { extname } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { UnigateError } from '../errors.ts';
import type { SpeechRequest } from '../speech.ts';
import type { Unigate } from '../unigate.ts';
import { type Options, UsageError } from './command-line.ts';
import { Progress } from './progress.ts';
import { saveFile } from './save-file.ts';
import type { Terminal } from './terminal.ts';

type Format = NonNullable<SpeechRequest['response_format']>;

const FORMATS: Readonly<Record<Format, readonly string[]>> = {
  wav: ['.wav'],
  mp3: ['.mp3'],
  pcm: ['.pcm', '.raw'],
  opus: ['.opus', '.ogg'],
  flac: ['.flac'],
};

/** `unigate speak`: writes the audio of a text to a file or to standard output. */
export async function speak(
  client: Unigate,
  text: string,
  options: Options,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { output = terminal.stdout.isTTY ? undefined : '-', voice, model = 'alpha3-tts-flash' } = options;
  if (output === undefined) throw new UsageError('Give -o FILE, or -o - for standard output.');
  if (!voice) throw new UsageError('Give --voice; unigate voices lists them.');
  const sampleRate = readNumber(options, 'sample-rate');
  const body: SpeechRequest & { stream_format?: 'audio' } = {
    model,
    voice,
    input: '',
    response_format: readFormat(options.format, output),
    speed: readNumber(options, 'speed'),
    instructions: options.instructions,
    stream: options.stream,
    extra_body: sampleRate === undefined ? undefined : { input: { sample_rate: sampleRate } },
  };
  body.input = text === '-' ? await readText(addAbortSignal(signal, terminal.stdin)) : text;
  if (body.input.trim() === '') throw new UsageError('The text is empty.');

  const progress = new Progress(terminal.stderr, options.quiet);
  try {
    const audio = receive(client, body, progress, signal);
    if (output === '-') await pipeline(audio, terminal.stdout, { end: false, signal });
    else await saveFile(output, audio);
  } finally {
    progress.clear();
  }
  if (output !== '-') progress.report(output);
}

async function* receive(
  client: Unigate,
  body: SpeechRequest & { stream_format?: 'audio' },
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  progress.start();
  const audio = await client.speech.create(body, { signal });
  for await (const chunk of audio) {
    progress.add(chunk.byteLength);
    yield chunk;
  }
  if (progress.bytes === 0) throw new UnigateError('The gateway sent no audio.');
}

function readFormat(asked: string | undefined, output: string): Format | undefined {
  const formats = Object.keys(FORMATS) as Format[];
  if (asked !== undefined) {
    const format = formats.find((name) => name === asked);
    if (!format) throw new UsageError(`--format: one of ${formats.join(', ')}.`);
    return format;
  }
  return formats.find((name) => FORMATS[name].includes(extname(output).toLowerCase()));
}

function readNumber(options: Options, name: 'speed' | 'sample-rate'): number | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) throw new UsageError(`--${name}: not a number.`);
  return number;
}
