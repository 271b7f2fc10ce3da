import tab from '@bomb.sh/tab/commander';
import { addAdminCommands } from './commands/admin/run.ts';
import { globalOptions, type Options } from './commands/command-line.ts';
import { commands, groups } from './commands/commands.ts';
import { connect } from './commands/connect.ts';
import { Program, runProgram } from './commands/program.ts';
import { runProcess } from './commands/run-process.ts';
import type { Terminal } from './commands/terminal.ts';

const notes = `
The task id is printed on standard error as soon as the task exists.
Exit codes: 0 success, 1 error, 2 invalid command line, 130 and 143 stopped by a signal.`;

/** Runs the command line of this process. The exit code is that of `run`, or 130 or 143 after a signal. */
export async function main(version: string): Promise<void> {
  await runProcess((signal) => run(process.argv.slice(2), process, version, signal));
}

/**
 * Runs one command. Returns the exit code: 0 success, 1 an error of the gateway, the network or a file, 2 an invalid command
 * line. An error is one line on stderr and never contains the key.
 */
export async function run(
  args: string[],
  terminal: Terminal,
  version: string,
  signal: AbortSignal,
): Promise<number> {
  const program = createProgram(terminal, version, signal);
  const name = args[0] === 'admin' ? 'unigate admin' : 'unigate';
  return await runProgram(program, args, terminal, { name, signal });
}

function createProgram(terminal: Terminal, version: string, signal: AbortSignal): Program {
  const program = new Program('unigate')
    .description('Creates speech, videos, music, images and 3D models through a Unigate gateway.')
    .printTo(terminal)
    .version(version, '-V, --version', 'print the version')
    .addGlobalOptions(globalOptions)
    .addExamples(['unigate speak "Good morning." --voice Aria -o morning.wav', 'unigate help video'])
    .addHelpText('after', notes);
  for (const [name, definition] of Object.entries(commands)) {
    program.addSubcommand(name, definition, async (text, command) => {
      const options = command.optsWithGlobals<Options>();
      const invocation = { command: name, text, options };
      if ('runLocally' in definition) await definition.runLocally(invocation, terminal);
      else await definition.run(connect(options, terminal), invocation, terminal, signal);
    });
  }
  for (const [name, description] of Object.entries(groups)) program.find([name]).description(description);
  addAdminCommands(program.command('admin').helpCommand(false), 'unigate admin', terminal, signal);
  program.addHelp();
  tab(program, { completionCommandName: 'completion' });
  program.find(['completion']).description('print a script that completes commands and options in a shell');
  return program;
}
