import { addAbortSignal } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import type { Invocation, Options } from './command-line.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** Returns the prompt. Reads standard input for `-`. Undefined if it is empty. */
export async function readPrompt(
  { text }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string | undefined> {
  const prompt = text === '-' ? await readText(addAbortSignal(signal, terminal.stdin)) : text;
  return prompt.trim() === '' ? undefined : prompt;
}

/** With `--resume`, only `resumableOptions` are allowed, because other options describe a new task. */
export function checkResume({ text, options }: Invocation, resumableOptions: readonly string[]): void {
  const { resume, output, quiet, key, 'base-url': baseUrl, ...others } = options;
  const invalid = Object.keys(others).find((name) => !resumableOptions.includes(name));
  if (resume?.trim() === '') throw new UsageError('--resume requires the id of a task.');
  if (text !== '') throw new UsageError('--resume cannot be combined with a prompt.');
  if (invalid) throw new UsageError(`--resume cannot be combined with --${invalid}.`);
}

export function readInteger(options: Options, name: 'seconds' | 'seed'): number | undefined {
  const text = options[name];
  if (text !== undefined && !/^-?\d{1,15}$/.test(text))
    throw new UsageError(`--${name} must be a whole number.`);
  return text === undefined ? undefined : Number(text);
}

/** Parses the `--param key=value` options. Values that are not JSON are text. */
export function readParameters({ param }: Options): Record<string, unknown> | undefined {
  if (!param) return undefined;
  return Object.fromEntries(
    param.map((pair) => {
      const [, key, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
      if (key === undefined || value === undefined)
        throw new UsageError('--param must have the form key=value.');
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

/** Reads an option that counts something, from 1. */
export function readCount(
  options: Options,
  name: 'max-tokens' | 'dimensions' | 'limit' | 'lines',
): number | undefined {
  const text = options[name];
  if (text !== undefined && !/^[1-9]\d{0,8}$/.test(text))
    throw new UsageError(`--${name} must be a whole number above 0.`);
  return text === undefined ? undefined : Number(text);
}

/** Reads the seconds between two requests. Returns milliseconds. */
export function readInterval({ interval = '2' }: Options): number {
  const seconds = /^\d{1,4}(\.\d{1,3})?$/.test(interval) ? Number(interval) : 0;
  if (seconds < 0.1 || seconds > 3_600)
    throw new UsageError('--interval must be between 0.1 and 3600 seconds.');
  return seconds * 1_000;
}
