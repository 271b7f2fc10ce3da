import { Command, CommanderError, type ErrorOptions, type Help, type HelpContext, Option } from 'commander';
import { knownKeys } from './connect.ts';
import { createOptions, type OptionDefinitions, placeholder } from './option.ts';
import { capitalize, ProgramHelp } from './program-help.ts';
import { reportFailure } from './report-failure.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const defaultHelpWidth = 110;
const globalHeading = 'Global options:';
const helpOption = () => new Option('-h, --help', 'show the help of a command').helpGroup(globalHeading);

/** A command with its help. */
export interface CommandHelp {
  /** Placeholder of the argument, in capitals. Absent if the command has none. */
  argument?: string;
  /** Description of the argument. */
  argumentDescription?: string;
  /** Whether the argument is optional. */
  isOptional?: boolean;
  description: string;
  options: OptionDefinitions;
  /** Command lines without the program name. */
  examples: readonly string[];
}

/** A command or a group of commands. Reports an invalid command line as UsageError. */
export class Program extends Command {
  /** Options of all commands below this one, repeated in their help. */
  globalOptions: OptionDefinitions = {};
  /** Command lines in the help. */
  examples: string[] = [];

  override createCommand(name?: string): Program {
    return new Program(name);
  }

  override createHelp(): Help {
    return Object.assign(new ProgramHelp(this.examples), this.configureHelp());
  }

  /** Prints help and version to the terminal. Subcommands added later do the same. */
  printTo({ stdout }: { stdout: { write(text: string): unknown; columns?: number } }): this {
    return this.exitOverride()
      .configureOutput({
        writeOut: (text) => void stdout.write(text),
        getOutHelpWidth: () => stdout.columns ?? defaultHelpWidth,
        getOutHasColors: () => false,
      })
      .helpCommand(false)
      .addHelpOption(helpOption());
  }

  addOptions(definitions: OptionDefinitions, heading?: string): this {
    for (const option of createOptions(definitions))
      this.addOption(heading === undefined ? option : option.helpGroup(heading));
    return this;
  }

  /** Adds options that are allowed before and after the name of a command. */
  addGlobalOptions(definitions: OptionDefinitions): this {
    this.globalOptions = { ...this.globalOptions, ...definitions };
    return this.addOptions(definitions, globalHeading);
  }

  /** Adds a command. Its name may start with the name of a group. */
  addSubcommand(
    name: string,
    { argument, argumentDescription = '', isOptional = false, description, options, examples }: CommandHelp,
    action: (text: string, command: Program) => Promise<void>,
  ): void {
    const words = name.split(' ');
    const last = words.pop() ?? '';
    const group = this.#group(words);
    const command = group.command(last).helpCommand(false);
    command.description(description).addOptions(options).addOptions(this.globalOptions, globalHeading);
    if (argument !== undefined) {
      const shown = placeholder(argument);
      command.argument(isOptional ? `[${shown}]` : `<${shown}>`, argumentDescription);
    }
    const lines = examples.map((example) => `${pathOf(this)} ${example}`);
    command.addExamples(lines);
    if (group !== this) group.addExamples(lines.slice(0, 1));
    command.action(() => action(command.args[0] ?? '', command));
  }

  /** Returns the group with this name. Adds it if there is none. */
  #group([word, ...rest]: readonly string[]): Program {
    if (word === undefined) return this;
    const found = this.commands.find((command) => command.name() === word);
    const group = found instanceof Program ? found : this.command(word);
    return group.helpCommand(false).#group(rest);
  }

  /** Adds `help`, which shows the help of any command. */
  addHelp(): this {
    this.command('help')
      .description('show the help of a command')
      .argument('[command...]')
      .action((words: string[]) => this.find(words).outputHelp());
    return this;
  }

  /** Shows command lines in the help. */
  addExamples(examples: readonly string[]): this {
    this.examples.push(...examples);
    return this;
  }

  /** Returns the command or group with this name. Throws UsageError. */
  find([word, ...rest]: readonly string[]): Program {
    if (word === undefined) return this;
    const next = this.commands.find((command) => command.name() === word);
    if (next instanceof Program) return next.find(rest);
    if (this.commands.length === 0) throw new UsageError(`'${this.name()}' has no commands.`);
    return this.parse([word], { from: 'user' });
  }

  override parseOptions(args: string[]): ReturnType<Command['parseOptions']> {
    for (const [index, arg] of args.entries()) {
      if (arg === '--') break;
      this.#checkValue(arg, args[index + 1]);
    }
    return super.parseOptions(args);
  }

  /** Rejects values that Commander accepts: the next option as a value, and the value of a flag. */
  #checkValue(arg: string, next: string | undefined): void {
    const [flag = ''] = arg.split('=', 1);
    const option = this.options.find((known) => known.long === flag || known.short === flag);
    if (!option) return;
    if (!option.required && arg !== flag) throw new UsageError(`${flag} accepts no value.`);
    if (!option.required || arg !== flag || !next?.startsWith('-') || next === '-') return;
    const shown = option.name() === 'key' ? 'KEY' : next;
    throw new UsageError(
      `${flag} requires a value; write a value that starts with a dash as --${option.name()}=${shown}.`,
    );
  }

  override help(context?: HelpContext | ((text: string) => string)): never {
    if (typeof context === 'object' && context.error)
      throw new UsageError(`A command is missing. ${this.#listCommands()}`);
    super.help();
  }

  override error(message: string, { code }: ErrorOptions = {}): never {
    const [problem = '', suggestion] = message.replace(/^error: /, '').split('\n');
    const isCommand = code === 'commander.unknownCommand';
    // A group with an action of its own regards the name of a command as an argument.
    const isArgument = code === 'commander.excessArguments' && this.commands.length > 0;
    const unknown = isArgument ? `unknown command '${this.args[0]}'` : withoutValue(problem);
    const hint = /'-[^-]/.test(unknown) && code === 'commander.unknownOption';
    const sentence = capitalize(unknown.replace(/\.$/, ''));
    const advice = suggestion?.replace(/^\((.*)\)$/, ' $1') ?? '';
    const commands = advice === '' && (isCommand || isArgument) ? ` ${this.#listCommands()}` : '';
    const dash = hint ? '; write a text that starts with a dash after --' : '';
    throw new UsageError(`${sentence}${dash}.${advice}${commands}`);
  }

  #listCommands(): string {
    const names = this.createHelp().visibleCommands(this);
    return `Commands: ${names.map((command) => command.name()).join(', ')}.`;
  }
}

/** Returns the name of a command with the names of the programs and groups above it. */
function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/** Removes the value of an unknown option, which may be a key. */
function withoutValue(problem: string): string {
  return problem.replace(/^(unknown option '--[^=]*)=.*$/s, "$1'");
}

/** Runs a command line. Returns the exit code: 0 success, 1 an error, 2 an invalid command line. */
export async function runProgram(
  program: Program,
  args: readonly string[],
  terminal: Terminal,
  { name, signal }: { name: string; signal: AbortSignal },
): Promise<number> {
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Help and version end the parser with exit code 0.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const keys = knownKeys(program.opts<{ key?: string }>(), terminal);
    return reportFailure(error, terminal, { program: name, keys, stopped: signal.aborted });
  }
}
