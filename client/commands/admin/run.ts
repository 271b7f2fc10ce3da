import { globalOptions } from '../command-line.ts';
import { connect } from '../connect.ts';
import { Program, runProgram } from '../program.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import type { LocalDatabase } from './command.ts';
import { commands, groups } from './commands.ts';
import { Output } from './output.ts';

/** How the command line was started. */
export interface AdminProgram {
  /** Name in the help. */
  name: string;
  version: string;
  /** Only where the gateway is installed. */
  database?: LocalDatabase;
}

interface GlobalValues {
  key?: string;
  'base-url'?: string;
  json?: boolean;
  quiet?: boolean;
}

const examples = [
  'keys create laptop --user 2 --quota 100000',
  'channels list --json',
  'figures --by model --since 7d',
  'help keys create',
];

/**
 * Runs an admin command. Returns the exit code: 0 success, 1 error, 2 invalid command line. An error is one line on stderr
 * and never contains the key.
 */
export async function runAdmin(
  args: string[],
  terminal: Terminal,
  { name, version, database }: AdminProgram,
  signal: AbortSignal,
): Promise<number> {
  const program = new Program(name).printTo(terminal).version(version, '-V, --version', 'print the version');
  addAdminCommands(program, name, terminal, signal, database);
  return await runProgram(program, args, terminal, { name, signal });
}

/** Adds the admin commands to a program. */
export function addAdminCommands(
  program: Program,
  name: string,
  terminal: Terminal,
  signal: AbortSignal,
  database?: LocalDatabase,
): void {
  program
    .summary('administer the gateway')
    .description('Administers a Unigate gateway with an admin key.')
    .addGlobalOptions({
      ...globalOptions,
      key: { argument: 'KEY', description: 'an admin key; default: UNIGATE_API_KEY, or the configuration' },
      json: { description: 'print JSON as in the contract' },
    })
    .addExamples(examples.map((example) => `${name} ${example}`))
    .addHelpText(
      'after',
      '\nExit codes: 0 success, 1 error, 2 invalid command line, 130 and 143 stopped by a signal.',
    );
  for (const [command, { run, ...help }] of Object.entries(commands))
    program.addSubcommand(command, help, async (text, parsed) => {
      const values = parsed.optsWithGlobals<GlobalValues>();
      if (help.argument !== undefined && text.trim() === '')
        throw new UsageError(`${command} requires one ${help.argument}.`);
      await run({
        get client() {
          return connect(values, terminal);
        },
        text,
        options: parsed.opts(),
        output: new Output(terminal, values),
        terminal,
        signal,
        ...(database && { database }),
      });
    });
  for (const [group, description] of Object.entries(groups)) program.find([group]).description(description);
  program.addHelp();
}
