import { addAbortSignal } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { UsageError } from './check-options.ts';
import type { Invocation, Options } from './command-line.ts';
import type { Terminal } from './terminal.ts';

/** The prompt; `-` reads it from standard input. Undefined when there is none. */
export async function readPrompt(
  { text }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string | undefined> {
  const prompt = text === '-' ? await readText(addAbortSignal(signal, terminal.stdin)) : text;
  return prompt.trim() === '' ? undefined : prompt;
}

/** With `--resume` nothing is made any more, so nothing may say how; `lasting` options say what to do with it. */
export function checkResume({ text, options }: Invocation, lasting: readonly string[]): void {
  const { resume, output, quiet, key, 'base-url': baseUrl, ...others } = options;
  const stray = Object.keys(others).find((name) => !lasting.includes(name));
  if (resume?.trim() === '') throw new UsageError('--resume: the id of a task.');
  if (text !== '') throw new UsageError('--resume takes no prompt.');
  if (stray) throw new UsageError(`--resume goes without --${stray}.`);
}

export function readWhole(options: Options, name: 'seconds' | 'seed'): number | undefined {
  const text = options[name];
  if (text !== undefined && !/^-?\d{1,15}$/.test(text))
    throw new UsageError(`--${name}: not a whole number.`);
  return text === undefined ? undefined : Number(text);
}

/** The `--param key=value` options, if there are any; a value that is JSON is taken as such, any other as text. */
export function readParameters({ param }: Options): Record<string, unknown> | undefined {
  if (!param) return undefined;
  return Object.fromEntries(
    param.map((pair) => {
      const [, key, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
      if (key === undefined || value === undefined) throw new UsageError('--param: of the form key=value.');
      return [key, readValue(value)];
    }),
  );
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
