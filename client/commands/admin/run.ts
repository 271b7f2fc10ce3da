import { parseArgs } from 'node:util';
import { checkOptions, type OptionTable, UsageError } from '../check-options.ts';
import { connect } from '../connect.ts';
import { reportFailure } from '../report-failure.ts';
import type { Terminal } from '../terminal.ts';
import type { AdminCommand, OfflineAudit } from './command.ts';
import { commands } from './commands.ts';
import { helpText } from './help.ts';
import { Output } from './output.ts';

/** How the command line was started. */
export interface AdminProgram {
  /** Name in the help. */
  name: string;
  version: string;
  /** Only where the gateway is installed. */
  auditOffline?: OfflineAudit;
}

const globalOptions = {
  'base-url': { type: 'string' },
  key: { type: 'string' },
  json: { type: 'boolean' },
  quiet: { type: 'boolean', short: 'q' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'V' },
} as const satisfies OptionTable;

/**
 * Runs an admin command. Returns the exit code: 0 success, 1 error, 2 invalid command line. An error is one line on stderr
 * and never contains the key.
 */
export async function runAdmin(
  args: string[],
  terminal: Terminal,
  program: AdminProgram,
  signal: AbortSignal,
): Promise<number> {
  let key = terminal.env.UNIGATE_API_KEY;
  try {
    const { values, positionals, own } = parse(args);
    key = values.key ?? key;
    if (values.version) terminal.stdout.write(`${program.version}\n`);
    else if (values.help || positionals[0] === 'help')
      terminal.stdout.write(helpText(program.name, helpTopic(positionals)));
    else {
      const { name, command, text } = readCommand(positionals);
      const call = {
        get client() {
          return connect(values, terminal);
        },
        text,
        options: readOptions(own, name, command),
        output: new Output(terminal, values),
        terminal,
        signal,
        auditOffline: program.auditOffline,
      };
      await command.run(call);
    }
    return 0;
  } catch (error) {
    return reportFailure(error, terminal, { program: program.name, key, stopped: signal.aborted });
  }
}

/** The options of all commands. Options with the same name have the same type. */
const commandOptions: OptionTable = Object.fromEntries(
  Object.values(commands).flatMap(({ options }) =>
    Object.entries(options).map(([name, { argument, short }]) => [
      name,
      { type: argument === undefined ? 'boolean' : 'string', ...(short && { short }) } as const,
    ]),
  ),
);

function parse(args: string[]) {
  const allOptions = { ...commandOptions, ...globalOptions };
  checkOptions(args, allOptions);
  const { values, positionals } = parseArgs({ args, options: allOptions, allowPositionals: true });
  const own = Object.entries(values).filter(([name]) => !Object.hasOwn(globalOptions, name));
  return { values: values as Partial<GlobalValues>, positionals, own };
}

type GlobalValues = {
  [Name in keyof typeof globalOptions]: (typeof globalOptions)[Name]['type'] extends 'string'
    ? string
    : boolean;
};

/** Returns the command or group that help is requested for. Empty for all commands. */
function helpTopic(positionals: string[]): string {
  const words = positionals.filter((word) => word !== 'help').slice(0, 2);
  const topic = words.join(' ');
  if (topic === '' || Object.hasOwn(commands, topic)) return topic;
  const [group = ''] = words;
  if (Object.keys(commands).some((name) => name.split(' ')[0] === group)) return group;
  throw new UsageError(`There is no command ${topic}.`);
}

/** Splits the positionals into the command, whose name may have two words, and its argument. */
function readCommand(positionals: string[]): { name: string; command: AdminCommand; text: string } {
  const [first, second] = positionals;
  if (first === undefined) throw new UsageError('A command is missing.');
  const name = [`${first} ${second}`, first].find((words) => Object.hasOwn(commands, words));
  const command = name === undefined ? undefined : commands[name];
  if (name === undefined || !command) {
    const inner = Object.keys(commands).filter((other) => other.startsWith(`${first} `));
    const wanted = inner.length > 0 && second !== undefined ? `${first} ${second}` : first;
    const others = inner.length > 0 ? `; commands: ${inner.join(', ')}` : '';
    throw new UsageError(`There is no command ${wanted}${others}.`);
  }
  const rest = positionals.slice(name.split(' ').length);
  if (command.argument === undefined && rest.length > 0)
    throw new UsageError(`${name}: unexpected argument ${rest[0]}.`);
  if (command.argument !== undefined && (rest.length !== 1 || rest[0]?.trim() === ''))
    throw new UsageError(`${name} requires one ${command.argument}.`);
  return { name, command, text: rest[0] ?? '' };
}

function readOptions(given: [string, unknown][], name: string, { options }: AdminCommand): object {
  const read = given.map(([option, value]) => {
    const known = Object.hasOwn(options, option) ? options[option] : undefined;
    if (!known) throw new UsageError(`${name} has no option --${option}.`);
    return [option, known.parse && typeof value === 'string' ? known.parse(value, `--${option}`) : value];
  });
  const missing = Object.entries(options).find(
    ([option, { required }]) => required && !read.some(([other]) => other === option),
  );
  if (missing) throw new UsageError(`${name}: --${missing[0]} is required.`);
  return Object.fromEntries(read) as object;
}
