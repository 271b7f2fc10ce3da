import { UsageError } from './usage-error.ts';

/** Reads the argument ID of a command. @throws UsageError if it is not a whole number */
export function readId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new UsageError('ID must be a whole number.');
  return Number(text);
}
