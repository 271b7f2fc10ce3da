import { parseArgs } from 'node:util';
import { checkOptions, UsageError } from './check-options.ts';

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
  name: text,
  language: text,
  text,
  type: text,
  tags: text,
  title: text,
  lyrics: text,
  instrumental: flag,
  both: flag,
  upscale: text,
} as const;
const known = { ...everywhere, ...own };

type Name = keyof typeof own;

/** What a command takes beside the options of all. */
interface Shape {
  /** What stands after the command's name; left out where nothing does. */
  takes?: string;
  /** Whether it may be missing. */
  optional?: boolean;
  options: readonly Name[];
}

const commands = {
  speak: {
    takes: 'one text; put it in quotes',
    options: [
      ...(['output', 'voice', 'model', 'format', 'instructions', 'speed', 'sample-rate'] as const),
      ...(['stream', 'realtime', 'duplex'] as const),
    ],
  },
  video: {
    takes: 'one prompt; put it in quotes',
    optional: true,
    options: [
      ...(['output', 'model', 'seconds', 'size', 'ratio', 'image', 'first-frame', 'last-frame'] as const),
      ...(['reference-image', 'video', 'no-audio', 'seed', 'param', 'resume'] as const),
    ],
  },
  model3d: {
    takes: 'one prompt; put it in quotes',
    optional: true,
    options: ['output', 'model', 'image', 'param', 'resume'],
  },
  music: {
    takes: 'one prompt; put it in quotes',
    optional: true,
    options: ['output', 'tags', 'title', 'lyrics', 'instrumental', 'both', 'param', 'resume'],
  },
  lyrics: { takes: 'one prompt; put it in quotes', optional: true, options: ['output', 'resume'] },
  image: {
    takes: 'one prompt; put it in quotes',
    optional: true,
    options: ['output', 'reference-image', 'upscale', 'resume'],
  },
  models: { options: ['json'] },
  voices: { options: ['model', 'json'] },
  'voices clone': { takes: 'one recording', options: ['model', 'name', 'language', 'text'] },
  'voices design': {
    takes: 'one description; put it in quotes',
    options: ['output', 'model', 'name', 'language', 'text'],
  },
  'voices list': { options: ['model', 'json'] },
  'voices delete': { takes: 'one voice', options: [] },
  'assets upload': { takes: 'one address', options: ['type', 'name', 'model'] },
  'assets show': { takes: 'one id', options: ['model', 'json'] },
} as const satisfies Record<string, Shape>;

export type Command = keyof typeof commands;
export type Options = ReturnType<typeof parse>['values'];

/** A command to be run. */
export interface Invocation {
  command: Command;
  /** What is spoken, a prompt or an id; empty where there is none. */
  text: string;
  options: Options;
}

/** Reads the arguments after the program's name. Throws UsageError. */
export function parseCommandLine(args: string[]): Invocation | 'help' | 'version' {
  const { values: options, positionals } = parse(args);
  if (options.version) return 'version';
  if (options.help || positionals[0] === 'help') return 'help';
  const [command, rest] = readCommand(positionals);
  const { takes, optional, options: names }: Shape = commands[command];
  for (const name of Object.keys(options))
    if (name in own && !names.some((taken) => taken === name))
      throw new UsageError(`${command} has no option --${name}.`);
  if (takes === undefined && rest.length > 0) throw new UsageError(`${command} takes no text.`);
  if (takes !== undefined && (rest.length > 1 || (rest.length === 0 && !optional)))
    throw new UsageError(`${command} takes ${takes}.`);
  return { command, text: rest[0] ?? '', options };
}

/** The command and what stands after it; its name may be two words. */
function readCommand([first, second, ...rest]: string[]): [Command, string[]] {
  if (first === undefined) throw new UsageError('No command.');
  const both = `${first} ${second}`;
  if (isCommand(both)) return [both, rest];
  const inner = Object.keys(commands).filter((name) => name.startsWith(`${first} `));
  const name = inner.length > 0 && second !== undefined ? both : first;
  if (isCommand(name)) return [name, second === undefined ? [] : [second, ...rest]];
  throw new UsageError(`No command ${name}${inner.length > 0 ? `; there is ${inner.join(', ')}` : ''}.`);
}

function isCommand(name: string): name is Command {
  return Object.hasOwn(commands, name);
}

function parse(args: string[]) {
  checkOptions(args, known);
  return parseArgs({ args, options: known, allowPositionals: true });
}
