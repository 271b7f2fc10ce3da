import { type Command, Help, type Option } from 'commander';

/** The help of a command, with examples. The help of a program lists the commands of its groups, too. */
export class ProgramHelp extends Help {
  readonly #examples: readonly string[];

  constructor(examples: readonly string[]) {
    super();
    this.#examples = examples;
  }

  override formatHelp(command: Command, helper: Help): string {
    const expanded = Object.assign(new Help(), helper, {
      visibleCommands: (parent: Command) => helper.visibleCommands(parent).flatMap(withCommandsOfGroup),
      subcommandTerm: (child: Command) => termOf(child, command, helper),
      commandDescription: (described: Command) => sentence(helper.commandDescription(described)),
      optionDescription: ({ description, mandatory }: Option) =>
        mandatory ? `${description} (required)` : description,
    });
    const examples = this.#examples.map((example) => `  ${example}\n`);
    const help = super.formatHelp(command, expanded);
    return examples.length === 0 ? help : `${help}\nExamples:\n${examples.join('')}`;
  }
}

function withCommandsOfGroup(command: Command): Command[] {
  const isProgram = command.commands.some(({ commands }) => commands.length > 0);
  return isProgram ? [command] : [command, ...command.commands];
}

/** Returns the name of a command below `root`, with its arguments. */
function termOf(command: Command, root: Command, helper: Help): string {
  const term = helper.subcommandTerm(command).replace(' [options]', '');
  const { parent } = command;
  return parent && parent !== root ? `${parent.name()} ${term}` : term;
}

function sentence(text: string): string {
  return /\.$|^$/.test(text) ? text : `${capitalize(text)}.`;
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
