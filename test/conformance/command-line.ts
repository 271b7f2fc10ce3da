import { CommanderError } from 'commander';
import type { OptionDefinitions, Values } from '../../client/commands/option.ts';
import { Program } from '../../client/commands/program.ts';
import { UsageError } from '../../client/commands/usage-error.ts';
import { factsOf } from './context/coverage.ts';
import { documentedOperations } from './contract/documented.ts';

export interface Invocation {
  baseUrl: string;
  key: string;
  report: string | undefined;
  junit: string | undefined;
  events: boolean;
  only: readonly string[];
  runs: number;
  seed: number;
  timeoutMs: number;
  taskTimeoutMs: number;
  triggers: 'auto' | 'on' | 'off';
  admin: boolean;
  bodyLimitMb: number;
  callbacksAt: string | undefined;
  callbacksPort: number | undefined;
  callbackSecret: string | undefined;
}

const options = {
  'base-url': {
    argument: 'URL',
    description: 'address of the server (or UNIGATE_BASE_URL)',
    parse: parseAddress,
  },
  key: { argument: 'KEY', description: 'key with quota (or UNIGATE_API_KEY)' },
  only: {
    argument: 'NAME',
    description: 'an operation or an area, such as createSpeech or video; repeatable',
    multiple: true,
  },
  report: { argument: 'FILE', description: 'writes the results as JSON' },
  junit: { argument: 'FILE', description: 'writes the checks as JUnit XML' },
  events: { description: 'prints each result as a line of JSON, for programs' },
  runs: {
    argument: 'N',
    description: 'random requests per operation, 0 to 10000 (default 5)',
    parse: numberBetween(0, 10_000),
  },
  seed: {
    argument: 'N',
    description: 'seed of the random requests (default: random, printed at the start)',
    parse: numberBetween(0, 2 ** 31 - 1),
  },
  timeout: {
    argument: 'SECONDS',
    description: 'timeout of a response, 1 to 600 (default 30)',
    parse: numberBetween(1, 600),
  },
  'task-timeout': {
    argument: 'SECONDS',
    description: 'timeout of a task, 1 to 3600 (default 120)',
    parse: numberBetween(1, 3600),
  },
  triggers: {
    argument: 'WHEN',
    description:
      'whether triggers such as [[error]] in a prompt cause provider failures: auto, on or off (default auto)',
    choices: ['auto', 'on', 'off'],
  },
  admin: { description: 'allows changes with an admin key to users and keys that the run created' },
  'body-limit-mb': {
    argument: 'N',
    description: 'maximum size of a request body on the server in MB, 1 to 64 (default 64)',
    parse: numberBetween(1, 64),
  },
  'callbacks-at': {
    argument: 'URL',
    description:
      'address at which the server reaches this machine (default: loopback for a server on loopback)',
    parse: parseAddress,
  },
  'callbacks-port': {
    argument: 'N',
    description: 'port to listen on, behind a tunnel or proxy (default: the port of --callbacks-at)',
    parse: numberBetween(1, 65_535),
  },
  'callback-secret': {
    argument: 'TEXT',
    description: 'secret that signs callbacks (or UNIGATE_CALLBACK_SECRET)',
  },
} as const satisfies OptionDefinitions;

const notes = `
Exit codes: 0 no check failed, 1 a check failed, 2 wrong options, or the server cannot be tested, 130 and 143 stopped by a
signal.`;

/**
 * Parses the arguments after the program name. Help and version are printed instead, which returns undefined.
 *
 * @throws UsageError that names the option and its rule
 */
export function parseCommandLine(
  args: string[],
  env: Readonly<Record<string, string | undefined>>,
  version: string,
  print: (text: string) => void,
): Invocation | undefined {
  const program = new Program('unigate-conformance')
    .usage('--base-url URL --key KEY [options]')
    .description(
      'Tests a server against the contract: valid and invalid requests for every operation, and every response.',
    )
    .printTo({ stdout: { write: print } })
    .version(version, '-V, --version', 'print the version')
    .addOptions(options)
    .addHelpText('after', notes);
  try {
    program.parse(args, { from: 'user' });
  } catch (error) {
    // Help and version end the parser with exit code 0.
    if (error instanceof CommanderError && error.exitCode === 0) return undefined;
    throw error;
  }
  return readInvocation(program.opts<Values<typeof options>>(), env);
}

function readInvocation(
  values: Values<typeof options>,
  env: Readonly<Record<string, string | undefined>>,
): Invocation {
  const baseUrl =
    values['base-url'] ??
    env.UNIGATE_BASE_URL ??
    missing('--base-url', 'the address of the server, or set UNIGATE_BASE_URL');
  if (values['callbacks-port'] !== undefined && values['callbacks-at'] === undefined)
    throw new UsageError('--callbacks-port: requires --callbacks-at.');
  return {
    baseUrl: parseAddress(baseUrl, '--base-url'),
    key:
      values.key ?? env.UNIGATE_API_KEY ?? missing('--key', 'the key of the server, or set UNIGATE_API_KEY'),
    report: values.report,
    junit: values.junit,
    events: values.events ?? false,
    only: (values.only ?? []).flatMap((names) => names.split(',')).map(checkName),
    runs: values.runs ?? 5,
    seed: values.seed ?? Math.floor(Math.random() * 2 ** 31),
    timeoutMs: (values.timeout ?? 30) * 1000,
    taskTimeoutMs: (values['task-timeout'] ?? 120) * 1000,
    triggers: values.triggers ?? 'auto',
    admin: values.admin ?? false,
    bodyLimitMb: values['body-limit-mb'] ?? 64,
    callbacksAt: values['callbacks-at'],
    callbacksPort: values['callbacks-port'],
    callbackSecret: values['callback-secret'] ?? env.UNIGATE_CALLBACK_SECRET,
  };
}

function parseAddress(text: string, name: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new UsageError(`${name}: must be an http or https address, not ${text}.`);
  return text;
}

function numberBetween(min: number, max: number): (text: string, name: string) => number {
  return (text, name) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new UsageError(`${name}: must be a whole number from ${min} to ${max}, not ${text}.`);
    return value;
  };
}

function checkName(name: string): string {
  const all = [...documentedOperations.values()];
  if (all.some((operation) => operation.id === name || factsOf(operation).area === name)) return name;
  const areas = [...new Set(all.map((operation) => factsOf(operation).area))].join(', ');
  throw new UsageError(`--only: ${name} is neither an operation of the contract nor an area (${areas}).`);
}

function missing(flagName: string, expected: string): never {
  throw new UsageError(`${flagName} is missing: ${expected}.`);
}
