import { parseArgs } from 'node:util';
import { checkOptions, type OptionTable, UsageError } from '../check-options.ts';
import { connect } from '../connect.ts';
import { tellFailure } from '../tell-failure.ts';
import type { Terminal } from '../terminal.ts';
import type { AdminCommand, OfflineAudit } from './command.ts';
import { commands } from './commands.ts';
import { helpText } from './help.ts';
import { Output } from './output.ts';

/** How the command line was started. */
export interface AdminProgram {
  /** As it stands in the help. */
  name: string;
  version: string;
  /** Left out where there is no gateway beside the command line. */
  auditOffline?: OfflineAudit;
}

const everywhere = {
  'base-url': { type: 'string' },
  key: { type: 'string' },
  json: { type: 'boolean' },
  quiet: { type: 'boolean', short: 'q' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'V' },
} as const satisfies OptionTable;

/**
 * Runs one command of the operator. Gives the exit code: 0 done, 1 refused or failed, 2 the command line is wrong. An
 * error is one line on stderr and never shows the key.
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
      terminal.stdout.write(helpText(program.name, asked(positionals)));
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
    return tellFailure(error, terminal, { program: program.name, key, stopped: signal.aborted });
  }
}

/** The options of all commands; one of the same name is of the same kind everywhere. */
const ownOptions: OptionTable = Object.fromEntries(
  Object.values(commands).flatMap(({ options }) =>
    Object.entries(options).map(([name, { takes, short }]) => [
      name,
      { type: takes === undefined ? 'boolean' : 'string', ...(short && { short }) } as const,
    ]),
  ),
);

function parse(args: string[]) {
  const known = { ...ownOptions, ...everywhere };
  checkOptions(args, known);
  const { values, positionals } = parseArgs({ args, options: known, allowPositionals: true });
  const own = Object.entries(values).filter(([name]) => !Object.hasOwn(everywhere, name));
  return { values: values as Partial<Everywhere>, positionals, own };
}

type Everywhere = {
  [Name in keyof typeof everywhere]: (typeof everywhere)[Name]['type'] extends 'string' ? string : boolean;
};

/** What help is asked about: a command, a group of them, or everything. */
function asked(positionals: string[]): string {
  const words = positionals.filter((word) => word !== 'help').slice(0, 2);
  const whole = words.join(' ');
  if (whole === '' || Object.hasOwn(commands, whole)) return whole;
  const [group = ''] = words;
  if (Object.keys(commands).some((name) => name.split(' ')[0] === group)) return group;
  throw new UsageError(`No command ${whole}.`);
}

/** The command and what stands after it; its name may be two words. */
function readCommand(positionals: string[]): { name: string; command: AdminCommand; text: string } {
  const [first, second] = positionals;
  if (first === undefined) throw new UsageError('No command.');
  const name = [`${first} ${second}`, first].find((words) => Object.hasOwn(commands, words));
  const command = name === undefined ? undefined : commands[name];
  if (name === undefined || !command) {
    const inner = Object.keys(commands).filter((other) => other.startsWith(`${first} `));
    const wanted = inner.length > 0 && second !== undefined ? `${first} ${second}` : first;
    const others = inner.length > 0 ? `; there is ${inner.join(', ')}` : '';
    throw new UsageError(`No command ${wanted}${others}.`);
  }
  const rest = positionals.slice(name.split(' ').length);
  if (command.takes === undefined && rest.length > 0) throw new UsageError(`${name} takes no ${rest[0]}.`);
  if (command.takes !== undefined && (rest.length !== 1 || rest[0]?.trim() === ''))
    throw new UsageError(`${name} takes one ${command.takes}.`);
  return { name, command, text: rest[0] ?? '' };
}

function readOptions(given: [string, unknown][], name: string, { options }: AdminCommand): object {
  const read = given.map(([option, value]) => {
    const known = Object.hasOwn(options, option) ? options[option] : undefined;
    if (!known) throw new UsageError(`${name} has no option --${option}.`);
    return [option, known.read && typeof value === 'string' ? known.read(value, `--${option}`) : value];
  });
  const missing = Object.entries(options).find(
    ([option, { required }]) => required && !read.some(([other]) => other === option),
  );
  if (missing) throw new UsageError(`${name}: give --${missing[0]}.`);
  return Object.fromEntries(read) as object;
}
