import { UsageError } from './usage-error.ts';

/** Reads an argument or option that is a number of at least 0. @throws UsageError if it is not a whole number */
export function readWholeNumber(text: string, name: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`${name} must be a whole number.`);
  return Number(text);
}
