import { parseArgs } from 'node:util';

export const USAGE = `unigate speaks through a Unigate gateway.

  unigate speak TEXT --voice VOICE [-o FILE]   speak a text; TEXT - reads it from standard input
  unigate models [--json]                      list the models that the key may use
  unigate voices [--model MODEL] [--json]      list the system voices

speak:
  -o, --output FILE      where the audio goes; - is standard output
      --voice VOICE      id of a voice of the model
      --model MODEL      default alpha3-tts-flash; with --realtime alpha3-tts-flash-realtime, with
                         --duplex voxa-v3-flash
      --format FORMAT    wav, mp3, pcm, opus or flac; default from the file's extension
      --instructions TEXT  how to speak, for instruct models
      --speed FACTOR     1 is normal
      --sample-rate HZ
      --stream           take the audio as it is made
      --realtime         over a realtime socket, which speaks while the text still comes
      --duplex           the same over an inference socket

everywhere:
      --base-url URL     default UNIGATE_BASE_URL, or http://127.0.0.1:8080
      --key KEY          default UNIGATE_API_KEY
  -q, --quiet            no progress
  -h, --help
  -V, --version

Exit codes: 0 done, 1 failed, 2 wrong command line, 130 and 143 stopped by a signal.
`;

/** The command line itself is wrong. */
export class UsageError extends Error {}

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const everywhere = {
  'base-url': text,
  key: text,
  quiet: { ...flag, short: 'q' },
  help: { ...flag, short: 'h' },
  version: { ...flag, short: 'V' },
} as const;
const own = {
  output: { ...text, short: 'o' },
  voice: text,
  model: text,
  format: text,
  instructions: text,
  speed: text,
  'sample-rate': text,
  stream: flag,
  realtime: flag,
  duplex: flag,
  json: flag,
} as const;

type Name = keyof typeof own;
const commands: Record<'speak' | 'models' | 'voices', Name[]> = {
  speak: [
    'output',
    'voice',
    'model',
    'format',
    'instructions',
    'speed',
    'sample-rate',
    'stream',
    'realtime',
    'duplex',
  ],
  models: ['json'],
  voices: ['model', 'json'],
};

export type Options = ReturnType<typeof parse>['values'];

export interface Invocation {
  command: keyof typeof commands | 'help' | 'version';
  /** What `speak` is to speak; empty for the others. */
  text: string;
  options: Options;
}

/** Reads the arguments after the program's name. Throws UsageError. */
export function parseCommandLine(args: string[]): Invocation {
  const { values: options, positionals } = parse(args);
  const [command, ...texts] = positionals;
  if (options.version) return { command: 'version', text: '', options };
  if (options.help || command === 'help') return { command: 'help', text: '', options };
  if (!isCommand(command)) throw new UsageError(command ? `No command ${command}.` : 'No command.');
  const stray = Object.keys(options).find(
    (name) => name in own && !commands[command].some((known) => known === name),
  );
  if (stray) throw new UsageError(`${command} has no option --${stray}.`);
  if (command === 'speak' && texts.length !== 1)
    throw new UsageError('speak takes one text; put it in quotes.');
  if (command !== 'speak' && texts.length > 0) throw new UsageError(`${command} takes no text.`);
  return { command, text: texts[0] ?? '', options };
}

function isCommand(name: string | undefined): name is keyof typeof commands {
  return name !== undefined && Object.hasOwn(commands, name);
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: { ...everywhere, ...own }, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
