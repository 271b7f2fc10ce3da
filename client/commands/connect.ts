import { Unigate } from '../unigate.ts';
import { readConfig } from './config-file.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

interface ConnectOptions {
  key?: string;
  'base-url'?: string;
}

/**
 * Creates a client from the command line, otherwise the environment, otherwise the configuration file. Throws UsageError
 * without a key.
 */
export function connect(options: ConnectOptions, { env }: Pick<Terminal, 'env'>): Unigate {
  const config = readConfig(env);
  const apiKey = options.key ?? (env.UNIGATE_API_KEY || config.key);
  if (!apiKey?.trim())
    throw new UsageError('--key is required, or set UNIGATE_API_KEY, or run unigate config set key=-');
  const baseUrl = options['base-url'] || env.UNIGATE_BASE_URL || config['base-url'];
  return new Unigate({ ...(baseUrl && { baseUrl }), apiKey });
}

/** Returns the keys that messages must not contain. */
export function knownKeys({ key }: ConnectOptions, { env }: Pick<Terminal, 'env'>): string[] {
  const keys = [key, env.UNIGATE_API_KEY, storedKey(env)];
  return keys.flatMap((text) => (text?.trim() ? [text.trim()] : []));
}

function storedKey(env: Terminal['env']): string | undefined {
  try {
    return readConfig(env).key;
  } catch {
    return undefined;
  }
}
