import { parseArgs } from 'node:util';
import { checkOptions, UsageError } from '../../client/commands/check-options.ts';
import { factsOf } from './context/coverage.ts';
import { documentedOperations } from './contract/documented.ts';

export interface Invocation {
  baseUrl: string;
  key: string;
  report: string | undefined;
  junit: string | undefined;
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

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;

const options = {
  'base-url': text,
  key: text,
  report: text,
  junit: text,
  only: { ...text, multiple: true },
  runs: text,
  seed: text,
  timeout: text,
  'task-timeout': text,
  triggers: text,
  admin: flag,
  'body-limit-mb': text,
  'callbacks-at': text,
  'callbacks-port': text,
  'callback-secret': text,
  help: { ...flag, short: 'h' },
  version: { ...flag, short: 'V' },
} as const;

export const usageText = `Usage: unigate-conformance --base-url URL --key KEY [options]

Tests a server against the contract: valid and invalid requests for every operation, and every response.

  --base-url URL         address of the server (or UNIGATE_BASE_URL)
  --key KEY              key with quota (or UNIGATE_API_KEY)
  --only NAME            an operation or an area, such as createSpeech or video; repeatable
  --report FILE          writes the results as JSON
  --junit FILE           writes the checks as JUnit XML
  --runs N               random requests per operation, 0 to 10000 (default 5)
  --seed N               seed of the random requests (default: random, printed at the start)
  --timeout SECONDS      timeout of a response, 1 to 600 (default 30)
  --task-timeout SECONDS timeout of a task, 1 to 3600 (default 120)
  --triggers WHEN        whether triggers such as [[error]] in a prompt cause provider failures: auto, on or off
                         (default auto)
  --admin                allows changes with an admin key to users and keys that the run created
  --body-limit-mb N      maximum size of a request body on the server, 1 to 64 (default 64)
  --callbacks-at URL     address at which the server reaches this machine (default: loopback for a server on loopback)
  --callbacks-port N     port to listen on, behind a tunnel or proxy (default: the port of --callbacks-at)
  --callback-secret TEXT secret that signs callbacks (or UNIGATE_CALLBACK_SECRET)
  -h, --help
  -V, --version

Exit codes: 0 all checks passed, 1 a check failed, 2 wrong options, or the server cannot be tested.
`;

/** @throws UsageError that names the option and its rule */
export function parseCommandLine(
  args: string[],
  env: Readonly<Record<string, string | undefined>>,
): Invocation | 'help' | 'version' {
  const { values, tokens } = parseArgs({
    args,
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  checkOptions(args, options);
  const [extra] = tokens.filter(({ kind }) => kind === 'positional');
  if (extra?.kind === 'positional') throw new UsageError(`${extra.value} is not an option.`);
  if (values.help === true) return 'help';
  if (values.version === true) return 'version';
  const given = (name: keyof typeof options) => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const triggers = given('triggers') ?? 'auto';
  if (triggers !== 'auto' && triggers !== 'on' && triggers !== 'off')
    throw new UsageError(`--triggers: must be auto, on or off, not ${triggers}.`);
  const only = (values.only ?? []) as string[];
  const baseUrl = given('base-url') ?? env.UNIGATE_BASE_URL;
  const callbacksAt = given('callbacks-at');
  const port = given('callbacks-port');
  if (port !== undefined && callbacksAt === undefined)
    throw new UsageError('--callbacks-port: requires --callbacks-at.');
  return {
    baseUrl: address(
      '--base-url',
      baseUrl ?? missing('--base-url', 'the address of the server, or set UNIGATE_BASE_URL'),
    ),
    key:
      given('key') ??
      env.UNIGATE_API_KEY ??
      missing('--key', 'the key of the server, or set UNIGATE_API_KEY'),
    report: given('report'),
    junit: given('junit'),
    only: only.flatMap((names) => names.split(',')).map(checkName),
    runs: number('--runs', given('runs'), 5, 0, 10_000),
    seed: number('--seed', given('seed'), Math.floor(Math.random() * 2 ** 31), 0, 2 ** 31 - 1),
    timeoutMs: number('--timeout', given('timeout'), 30, 1, 600) * 1000,
    taskTimeoutMs: number('--task-timeout', given('task-timeout'), 120, 1, 3600) * 1000,
    triggers,
    admin: values.admin === true,
    bodyLimitMb: number('--body-limit-mb', given('body-limit-mb'), 64, 1, 64),
    callbacksAt: callbacksAt === undefined ? undefined : address('--callbacks-at', callbacksAt),
    callbacksPort: port === undefined ? undefined : number('--callbacks-port', port, 0, 1, 65_535),
    callbackSecret: given('callback-secret') ?? env.UNIGATE_CALLBACK_SECRET,
  };
}

function address(flagName: string, given: string): string {
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol))
    throw new UsageError(`${flagName}: must be an http or https address, not ${given}.`);
  return given;
}

function number(
  flagName: string,
  given: string | undefined,
  defaultValue: number,
  min: number,
  max: number,
): number {
  if (given === undefined) return defaultValue;
  const value = Number(given);
  if (!/^\d+$/.test(given) || value < min || value > max)
    throw new UsageError(`${flagName}: must be a whole number from ${min} to ${max}, not ${given}.`);
  return value;
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
