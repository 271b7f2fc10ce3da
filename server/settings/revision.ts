import { createHash } from 'node:crypto';
import type { ConfigurationFile } from './configuration.ts';

/** Length of a revision in hexadecimal digits. */
const revisionLength = 12;

/**
 * Computes the revision of a configuration: a prefix of SHA-256 over its canonical JSON, without the order of fields and without
 * secrets (keys of channels, the secret of callbacks).
 */
export function configurationRevision(file: ConfigurationFile): string {
  const channels = file.channels?.map(({ key: _key, ...channel }) => channel);
  const { secret: _secret, ...callbacks } = file.callbacks ?? {};
  const text = JSON.stringify({ ...file, channels, callbacks }, sortFields);
  return createHash('sha256').update(text).digest('hex').slice(0, revisionLength);
}

/** Replaces an object by a copy with sorted fields, for `JSON.stringify`. */
function sortFields(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}
