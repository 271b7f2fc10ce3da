import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { type Invocation, type Options, UsageError } from './command-line.ts';
import type { Terminal } from './terminal.ts';

const imageTypes: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.bmp': 'image/bmp',
  '.gif': 'image/gif',
  '.tif': 'image/tiff',
  '.tiff': 'image/tiff',
  '.heic': 'image/heic',
  '.heif': 'image/heif',
};

/** The prompt; `-` reads it from standard input. Undefined when there is none. */
export async function readPrompt(
  { text }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string | undefined> {
  const prompt = text === '-' ? await readText(addAbortSignal(signal, terminal.stdin)) : text;
  return prompt.trim() === '' ? undefined : prompt;
}

/** With `--resume` nothing is made any more, so nothing may say how. */
export function checkResume({ text, options }: Invocation): void {
  const { resume, output, quiet, key, 'base-url': baseUrl, ...others } = options;
  const stray = Object.keys(others)[0];
  if (resume?.trim() === '') throw new UsageError('--resume: the id of a task.');
  if (text !== '') throw new UsageError('--resume takes no prompt.');
  if (stray) throw new UsageError(`--resume goes without --${stray}.`);
}

/** An address as it is; an image file as a data URL. */
export async function readImage(name: string, value: string): Promise<string> {
  if (/^([a-z][a-z0-9+.-]*:\/\/|data:)/i.test(value)) return value;
  const type = imageTypes[extname(value).toLowerCase()];
  if (!type)
    throw new UsageError(
      `--${name}: an address, or a file that ends in ${Object.keys(imageTypes).join(', ')}.`,
    );
  return `data:${type};base64,${await readFile(value, 'base64')}`;
}

/** An address; files are not taken. */
export function readAddress(name: string, value: string | undefined): string | undefined {
  if (value !== undefined && !/^[a-z][a-z0-9+.-]*:\/\//i.test(value))
    throw new UsageError(`--${name}: an address; a file on this machine is not taken here.`);
  return value;
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
