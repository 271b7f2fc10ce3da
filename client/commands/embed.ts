import { addAbortSignal } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import type { Unigate } from '../unigate.ts';
import type { Invocation } from './command-line.ts';
import { readCount } from './task-options.ts';
import { printJson, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const defaultModel = 'theta-embedding-1';

/** `unigate embed`: prints the vector of a text, or of each line of standard input, as one JSON array per line. */
export async function embed(
  client: Unigate,
  { text, options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const input = text === '-' ? await readText(addAbortSignal(signal, terminal.stdin)) : text;
  const texts = (text === '-' ? input.split(/\r?\n/) : [input]).filter((line) => line.trim() !== '');
  if (texts.length === 0) throw new UsageError('The text is empty.');
  const { model = defaultModel, json } = options;
  const dimensions = readCount(options, 'dimensions');
  const body = { model, input: texts, encoding_format: 'float', dimensions } as const;
  const reply = await client.embeddings.create(body, { signal });
  if (json) printJson(terminal, reply);
  else for (const { embedding } of reply.data) terminal.stdout.write(`${JSON.stringify(embedding)}\n`);
}
