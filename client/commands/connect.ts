import { Unigate } from '../unigate.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

interface ConnectOptions {
  key?: string;
  'base-url'?: string;
}

/** Creates a client from the command line and the environment. Throws UsageError without a key. */
export function connect(
  { key, 'base-url': address }: ConnectOptions,
  { env }: Pick<Terminal, 'env'>,
): Unigate {
  const apiKey = key ?? env.UNIGATE_API_KEY;
  if (!apiKey?.trim()) throw new UsageError('--key is required, or set UNIGATE_API_KEY.');
  return new Unigate({ baseUrl: address || env.UNIGATE_BASE_URL || undefined, apiKey });
}
