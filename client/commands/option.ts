import { Option } from 'commander';

/** A flag or an option with a value. */
interface OptionDefinition<Value = unknown> {
  /** Placeholder of the value, in capitals. Absent for flags. */
  argument?: string;
  description: string;
  /** Whether the option is required. */
  required?: true;
  /** One letter. */
  short?: string;
  /** Whether the option may occur several times. */
  multiple?: true;
  /** The values allowed. */
  choices?: readonly string[];
  /** Parses the value. Throws UsageError for an invalid one. */
  parse?: (text: string, name: string) => Value;
}

/** Options by name, without dashes. */
export type OptionDefinitions = Readonly<Record<string, OptionDefinition>>;

type ValueOf<Definition> = Definition extends { parse: (text: string, name: string) => infer Value }
  ? Value
  : Definition extends { choices: readonly (infer Choice)[] }
    ? Choice
    : Definition extends { multiple: true }
      ? string[]
      : Definition extends { argument: string }
        ? string
        : true;

type RequiredOf<Definitions> = {
  [Name in keyof Definitions]: Definitions[Name] extends { required: true } ? Name : never;
}[keyof Definitions];

/** The values of options, by name. */
export type Values<Definitions> = {
  [Name in keyof Definitions]?: ValueOf<Definitions[Name]>;
} & { [Name in RequiredOf<Definitions>]: ValueOf<Definitions[Name]> };

/** Converts definitions to the options of a Commander command. */
export function createOptions(definitions: OptionDefinitions): Option[] {
  return Object.entries(definitions).map(([name, definition]) => createOption(name, definition));
}

function createOption(name: string, definition: OptionDefinition): Option {
  const { argument, description, required, short, multiple, choices, parse } = definition;
  const flags = `${short === undefined ? '' : `-${short}, `}--${name}`;
  const option = new NamedOption(
    argument === undefined ? flags : `${flags} <${placeholder(argument)}>`,
    description,
  );
  // `--no-audio` is a flag of its own, not the negation of `--audio`.
  option.negate = false;
  option.makeOptionMandatory(required ?? false);
  if (choices) option.choices(choices);
  if (parse) option.argParser((text) => parse(text, `--${name}`));
  if (multiple) option.argParser((text, earlier: string[] | undefined) => [...(earlier ?? []), text]);
  return option;
}

/** Returns the placeholder of an argument in the help. */
export function placeholder(argument: string): string {
  return argument.toLowerCase();
}

/** Stores its value under the name of the option, instead of the name in camel case. */
class NamedOption extends Option {
  override attributeName(): string {
    return this.name();
  }
}
