import type { Unigate } from '../unigate.ts';
import type { Invocation } from './command-line.ts';
import type { Terminal } from './terminal.ts';
import { printTable } from './terminal.ts';

/** `unigate models`: prints id, unit and protocols, one model per line. */
export async function listModels(
  client: Unigate,
  { options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const models = await client.models.list({ signal });
  const rows = models.map(({ id, unit, protocols }) => [id, unit, protocols.join(',')]);
  printTable(terminal, options, rows, models);
}
