import { UnigateError } from '../errors.ts';
import type { Unigate } from '../unigate.ts';
import type { Invocation } from './command-line.ts';
import type { Terminal } from './terminal.ts';
import { printTable } from './terminal.ts';

/** `unigate voices`: prints model, voice, gender and languages, one voice per line. */
export async function listVoices(
  client: Unigate,
  { options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const all = await client.models.list({ signal });
  const models = options.model ? all.filter(({ id }) => id === options.model) : all;
  if (options.model && models.length === 0)
    throw new UnigateError(`The key has no access to a model ${options.model}.`);
  const voices = models.flatMap(({ id, voices = [] }) => voices.map((voice) => ({ model: id, ...voice })));
  const rows = voices.map(({ model, id, gender = '', languages = [] }) => [
    model,
    id,
    gender,
    languages.join(','),
  ]);
  printTable(terminal, options, rows, voices);
}
