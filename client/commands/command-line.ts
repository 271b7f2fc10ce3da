import type { OptionDefinitions, Values } from './option.ts';
import type { CommandHelp } from './program.ts';

export const globalOptions = {
  'base-url': {
    argument: 'URL',
    description:
      'address of the gateway; default: UNIGATE_BASE_URL, the configuration, or http://127.0.0.1:8080',
  },
  key: { argument: 'KEY', description: 'API key; default: UNIGATE_API_KEY, or the configuration' },
  quiet: { short: 'q', description: 'print only errors on standard error' },
} as const satisfies OptionDefinitions;

/** The options of all commands. An option has the same kind of value in all of them. */
const optionKinds = {
  output: { argument: 'FILE', short: 'o' },
  voice: { argument: 'VOICE' },
  model: { argument: 'MODEL' },
  format: { argument: 'FORMAT' },
  instructions: { argument: 'TEXT' },
  speed: { argument: 'FACTOR' },
  'sample-rate': { argument: 'HZ' },
  stream: {},
  realtime: {},
  duplex: {},
  json: {},
  seconds: { argument: 'SECONDS' },
  size: { argument: 'SIZE' },
  ratio: { argument: 'RATIO' },
  image: { argument: 'IMAGE' },
  'first-frame': { argument: 'IMAGE' },
  'last-frame': { argument: 'IMAGE' },
  'reference-image': { argument: 'IMAGE', multiple: true },
  video: { argument: 'URL' },
  'no-audio': {},
  seed: { argument: 'SEED' },
  param: { argument: 'KEY=VALUE', multiple: true },
  resume: { argument: 'TASK' },
  name: { argument: 'NAME' },
  language: { argument: 'LANGUAGE' },
  text: { argument: 'TEXT' },
  type: { argument: 'TYPE' },
  tags: { argument: 'TAGS' },
  title: { argument: 'TITLE' },
  lyrics: { argument: 'LYRICS' },
  instrumental: {},
  both: {},
  upscale: { argument: 'NUMBER' },
  system: { argument: 'TEXT' },
  'max-tokens': { argument: 'NUMBER' },
  dimensions: { argument: 'NUMBER' },
  limit: { argument: 'NUMBER' },
  lines: { argument: 'NUMBER', short: 'n' },
  interval: { argument: 'SECONDS' },
  'no-follow': {},
  role: { argument: 'ROLE', choices: ['owner', 'developer', 'billing'] },
  disable: {},
  enable: {},
  quota: { argument: 'QUOTA' },
  account: { argument: 'ID' },
  'forward-to': { argument: 'URL' },
} as const;

/** Descriptions of the options of a command. */
type OptionDescriptions = Partial<Record<keyof typeof optionKinds, string>>;

export type Options = Values<typeof optionKinds & typeof globalOptions>;

/** A parsed command line. */
export interface Invocation {
  command: string;
  /** The argument: a text, a prompt or an id. Empty if there is none. */
  text: string;
  options: Options;
}

/** Adds the kinds of the options to their descriptions. */
export function defineCommand<Definition extends Omit<CommandHelp, 'options'>>(
  definition: Definition & { options: OptionDescriptions },
): Definition & { options: OptionDefinitions } {
  const options = Object.entries(definition.options).map(([name, description]) => {
    return [name, { ...optionKinds[name as keyof typeof optionKinds], description }];
  });
  return { ...definition, options: Object.fromEntries(options) as OptionDefinitions };
}
