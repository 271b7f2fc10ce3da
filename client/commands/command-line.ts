import { parseArgs } from 'node:util';
import { checkOptions, UsageError } from './check-options.ts';

const text = { type: 'string' } as const;
const texts = { ...text, multiple: true } as const;
const flag = { type: 'boolean' } as const;
const globalOptions = {
  'base-url': text,
  key: text,
  quiet: { ...flag, short: 'q' },
  help: { ...flag, short: 'h' },
  version: { ...flag, short: 'V' },
} as const;
const commandOptions = {
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
const allOptions = { ...globalOptions, ...commandOptions };

type OptionName = keyof typeof commandOptions;

/** Argument and options of a command. */
interface CommandShape {
  /** Description of the argument. Absent if the command has none. */
  argument?: string;
  /** Whether the argument is optional. */
  optional?: boolean;
  options: readonly OptionName[];
}

const commands = {
  speak: {
    argument: 'one text in quotes',
    options: [
      ...(['output', 'voice', 'model', 'format', 'instructions', 'speed', 'sample-rate'] as const),
      ...(['stream', 'realtime', 'duplex'] as const),
    ],
  },
  video: {
    argument: 'one prompt in quotes',
    optional: true,
    options: [
      ...(['output', 'model', 'seconds', 'size', 'ratio', 'image', 'first-frame', 'last-frame'] as const),
      ...(['reference-image', 'video', 'no-audio', 'seed', 'param', 'resume'] as const),
    ],
  },
  model3d: {
    argument: 'one prompt in quotes',
    optional: true,
    options: ['output', 'model', 'image', 'param', 'resume'],
  },
  music: {
    argument: 'one prompt in quotes',
    optional: true,
    options: ['output', 'tags', 'title', 'lyrics', 'instrumental', 'both', 'param', 'resume'],
  },
  lyrics: { argument: 'one prompt in quotes', optional: true, options: ['output', 'resume'] },
  image: {
    argument: 'one prompt in quotes',
    optional: true,
    options: ['output', 'reference-image', 'upscale', 'resume'],
  },
  models: { options: ['json'] },
  voices: { options: ['model', 'json'] },
  'voices clone': { argument: 'one recording', options: ['model', 'name', 'language', 'text'] },
  'voices design': {
    argument: 'one description in quotes',
    options: ['output', 'model', 'name', 'language', 'text'],
  },
  'voices list': { options: ['model', 'json'] },
  'voices delete': { argument: 'one voice', options: [] },
  'assets upload': { argument: 'one address', options: ['type', 'name', 'model'] },
  'assets show': { argument: 'one id', options: ['model', 'json'] },
} as const satisfies Record<string, CommandShape>;

export type Command = keyof typeof commands;
export type Options = ReturnType<typeof parse>['values'];

/** A parsed command line. */
export interface Invocation {
  command: Command;
  /** The argument: a text, a prompt or an id. Empty if there is none. */
  text: string;
  options: Options;
}

/** Parses the arguments after the program name. Throws UsageError. */
export function parseCommandLine(args: string[]): Invocation | 'help' | 'version' {
  const { values: options, positionals } = parse(args);
  if (options.version) return 'version';
  if (options.help || positionals[0] === 'help') return 'help';
  const [command, rest] = readCommand(positionals);
  const { argument, optional, options: names }: CommandShape = commands[command];
  for (const name of Object.keys(options))
    if (name in commandOptions && !names.some((other) => other === name))
      throw new UsageError(`${command} has no option --${name}.`);
  if (argument === undefined && rest.length > 0) throw new UsageError(`${command} accepts no argument.`);
  if (argument !== undefined && (rest.length > 1 || (rest.length === 0 && !optional)))
    throw new UsageError(`${command} requires ${argument}.`);
  return { command, text: rest[0] ?? '', options };
}

/** Splits the positionals into the command, whose name may have two words, and its arguments. */
function readCommand([first, second, ...rest]: string[]): [Command, string[]] {
  if (first === undefined) throw new UsageError('A command is missing.');
  const both = `${first} ${second}`;
  if (isCommand(both)) return [both, rest];
  const inner = Object.keys(commands).filter((name) => name.startsWith(`${first} `));
  const name = inner.length > 0 && second !== undefined ? both : first;
  if (isCommand(name)) return [name, second === undefined ? [] : [second, ...rest]];
  throw new UsageError(
    `There is no command ${name}${inner.length > 0 ? `; commands: ${inner.join(', ')}` : ''}.`,
  );
}

function isCommand(name: string): name is Command {
  return Object.hasOwn(commands, name);
}

function parse(args: string[]) {
  checkOptions(args, allOptions);
  return parseArgs({ args, options: allOptions, allowPositionals: true });
}
