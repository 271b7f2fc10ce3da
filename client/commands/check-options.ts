import { parseArgs } from 'node:util';

/** The command line itself is wrong. */
export class UsageError extends Error {}

/** The options that there are, by their names without dashes. */
export type OptionTable = Readonly<
  Record<string, { type: 'string' | 'boolean'; short?: string; multiple?: boolean }>
>;

/** Throws UsageError for an option that does not exist, lacks its value or has one too many. */
export function checkOptions(args: string[], known: OptionTable): void {
  const { tokens } = parseArgs({
    args,
    options: known,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) if (token.kind === 'option') checkOption(token, known);
}

interface OptionToken {
  name: string;
  /** With its dashes. */
  rawName: string;
  value?: string | undefined;
  inlineValue?: boolean | undefined;
}

/** The library's own words are for programmers. */
function checkOption({ name, rawName, value, inlineValue }: OptionToken, known: OptionTable): void {
  const option = Object.hasOwn(known, name) ? known[name] : undefined;
  if (!option) throw new UsageError(`No option ${rawName}${whatElse(name, rawName, known)}.`);
  if (option.type === 'boolean') {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value.`);
    return;
  }
  if (value === undefined) throw new UsageError(`${rawName}: give a value.`);
  if (inlineValue || value === '-' || !value.startsWith('-')) return;
  const shown = name === 'key' ? 'KEY' : value;
  throw new UsageError(`${rawName}: give a value; one that begins with a dash goes as --${name}=${shown}.`);
}

/** What an option that does not exist was probably meant to be. */
function whatElse(name: string, rawName: string, known: OptionTable): string {
  if (!rawName.startsWith('--')) return '; a text that begins with a dash goes after --';
  const near = Object.keys(known).filter((other) => name !== '' && other.startsWith(name));
  return near.length === 0 ? '' : `; there is ${near.map((other) => `--${other}`).join(', ')}`;
}
