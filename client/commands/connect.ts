import { Unigate } from '../unigate.ts';
import { UsageError } from './check-options.ts';
import type { Terminal } from './terminal.ts';

interface Where {
  key?: string;
  'base-url'?: string;
}

/** The gateway that a command line or the environment names. Throws UsageError without a key. */
export function connect({ key, 'base-url': address }: Where, { env }: Pick<Terminal, 'env'>): Unigate {
  const apiKey = key ?? env.UNIGATE_API_KEY;
  if (!apiKey?.trim()) throw new UsageError('Give --key, or set UNIGATE_API_KEY.');
  return new Unigate({ baseUrl: address || env.UNIGATE_BASE_URL || undefined, apiKey });
}
