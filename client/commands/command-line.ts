import { parseArgs } from 'node:util';

export const usageText = `unigate makes speech, video and 3D objects through a Unigate gateway.

  unigate speak TEXT --voice VOICE [-o FILE]   speak a text; TEXT - reads it from standard input
  unigate video PROMPT [-o FILE]               make a video; PROMPT - reads it from standard input
  unigate model3d PROMPT [-o FILE]             make a 3D object, as GLB
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
      --sample-rate HZ   where the model has more than one
      --stream           take the audio as it is made
      --realtime         over a realtime socket, which speaks while the text still comes
      --duplex           the same over an inference socket

video and model3d:
  -o, --output FILE      where the video or the GLB goes; - is standard output
      --model MODEL      default gamma3.0-video-prime; of model3d theta-3d
      --image IMAGE      an image to start from: an address, for video also a file
      --param KEY=VALUE  an option of the model; may be repeated
      --resume TASK      wait for a task that was started before, and take its file

video:
      --seconds SECONDS  with =-1 the model chooses
      --size SIZE        for example 720P
      --ratio RATIO      for example 16:9
      --first-frame IMAGE, --last-frame IMAGE
      --reference-image IMAGE  whose people, things or style to keep; may be repeated
      --video URL        a video to refer to or, with eta models, to edit
      --no-audio
      --seed SEED

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
const texts = { ...text, multiple: true } as const;
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
  seconds: text,
  size: text,
  ratio: text,
  image: text,
  'first-frame': text,
  'last-frame': text,
  'reference-image': texts,
  video: text,
  'no-audio': flag,
  seed: text,
  param: texts,
  resume: text,
} as const;

type Name = keyof typeof own;
const commands: Record<'speak' | 'video' | 'model3d' | 'models' | 'voices', Name[]> = {
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
  video: [
    'output',
    'model',
    'seconds',
    'size',
    'ratio',
    'image',
    'first-frame',
    'last-frame',
    'reference-image',
    'video',
    'no-audio',
    'seed',
    'param',
    'resume',
  ],
  model3d: ['output', 'model', 'image', 'param', 'resume'],
  models: ['json'],
  voices: ['model', 'json'],
};

export type Options = ReturnType<typeof parse>['values'];

export interface Invocation {
  command: keyof typeof commands | 'help' | 'version';
  /** What `speak` is to speak, or a prompt; empty where there is none. */
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
  if ((command === 'video' || command === 'model3d') && texts.length > 1)
    throw new UsageError(`${command} takes one prompt; put it in quotes.`);
  if ((command === 'models' || command === 'voices') && texts.length > 0)
    throw new UsageError(`${command} takes no text.`);
  return { command, text: texts[0] ?? '', options };
}

function isCommand(name: string | undefined): name is keyof typeof commands {
  return name !== undefined && Object.hasOwn(commands, name);
}

function parse(args: string[]) {
  const config = { args, options: { ...everywhere, ...own }, allowPositionals: true };
  for (const token of parseArgs({ ...config, strict: false, tokens: true }).tokens) {
    if (token.kind === 'option') checkOption(token, config.options);
  }
  return parseArgs(config);
}

interface OptionToken {
  name: string;
  /** With its dashes. */
  rawName: string;
  value?: string | undefined;
  inlineValue?: boolean | undefined;
}

/** The library's own words are for programmers. */
function checkOption({ name, rawName, value, inlineValue }: OptionToken, options: object): void {
  if (!Object.hasOwn(options, name)) throw new UsageError(`No option ${rawName}.`);
  const { type } = Reflect.get(options, name) as { type: 'string' | 'boolean' };
  if (type === 'boolean') {
    if (value !== undefined) throw new UsageError(`--${name} takes no value.`);
    return;
  }
  if (value === undefined) throw new UsageError(`--${name}: give a value.`);
  if (inlineValue || value === '-' || !value.startsWith('-')) return;
  throw new UsageError(`--${name}: give a value; one that begins with a dash goes as --${name}=${value}.`);
}
