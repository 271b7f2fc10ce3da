import { parseArgs } from 'node:util';

/** The command line is invalid. */
export class UsageError extends Error {}

/** Options by name, without dashes. */
export type OptionTable = Readonly<
  Record<string, { type: 'string' | 'boolean'; short?: string; multiple?: boolean }>
>;

/** Throws UsageError for an unknown option, a missing value or an unexpected value. */
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
  /** Including its dashes. */
  rawName: string;
  value?: string | undefined;
  inlineValue?: boolean | undefined;
}

/** Replaces the error messages of `parseArgs`, which are written for programmers. */
function checkOption({ name, rawName, value, inlineValue }: OptionToken, known: OptionTable): void {
  const option = Object.hasOwn(known, name) ? known[name] : undefined;
  if (!option) throw new UsageError(`Unknown option ${rawName}${suggestion(name, rawName, known)}.`);
  if (option.type === 'boolean') {
    if (value !== undefined) throw new UsageError(`${rawName} accepts no value.`);
    return;
  }
  if (value === undefined) throw new UsageError(`${rawName} requires a value.`);
  if (inlineValue || value === '-' || !value.startsWith('-')) return;
  const shown = name === 'key' ? 'KEY' : value;
  throw new UsageError(
    `${rawName} requires a value; write a value that starts with a dash as --${name}=${shown}.`,
  );
}

/** Suggests options for an unknown one. */
function suggestion(name: string, rawName: string, known: OptionTable): string {
  if (!rawName.startsWith('--')) return '; write a text that starts with a dash after --';
  const similar = Object.keys(known).filter((other) => name !== '' && other.startsWith(name));
  return similar.length === 0 ? '' : `; similar: ${similar.map((other) => `--${other}`).join(', ')}`;
}
