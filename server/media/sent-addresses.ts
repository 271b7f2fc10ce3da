import { createHash } from 'node:crypto';

/** Addresses in a request that are remembered with a task. A request with more counts as naming any address. */
const maxRemembered = 200;
/** Stands for all addresses. */
const any = '*';
/** Longer strings of a request are inline media, which name no addresses. */
const maxTextLength = 1024 * 1024;
/** Characters of a hash: 96 bits are enough to tell addresses apart. */
const hashLength = 16;

/** Addresses that a client sent. A provider that names one of them did not make that file. */
export class SentAddresses {
  readonly #addresses = new Set<string>();

  /** Takes the addresses from all strings of the values. */
  constructor(...values: readonly unknown[]) {
    for (const value of values) this.#collect(value);
  }

  /** Whether the client sent this address, however it was written there. */
  has(url: string): boolean {
    const address = comparable(url);
    return address !== undefined && this.#addresses.has(address);
  }

  /** The addresses in a form that can be stored with a task, see `wasSent`. */
  hashes(): readonly string[] {
    return this.#addresses.size > maxRemembered ? [any] : [...this.#addresses].map(hashOf);
  }

  #collect(value: unknown): void {
    if (typeof value === 'string') {
      if (value.length > maxTextLength || /^data:/i.test(value)) return;
      for (const [found] of value.matchAll(/https?:[^\s"'<>]+/gi)) {
        const address = comparable(found);
        if (address !== undefined) this.#addresses.add(address);
      }
    } else if (typeof value === 'object' && value !== null) {
      for (const inner of Object.values(value)) this.#collect(inner);
    }
  }
}

/** Whether an address is one of those that `SentAddresses.hashes` gave. */
export function wasSent(url: string, hashes: unknown): boolean {
  if (!Array.isArray(hashes)) return false;
  const address = comparable(url);
  return address === undefined || hashes.includes(any) || hashes.includes(hashOf(address));
}

/**
 * Origin and path of an address, in a form that is the same for all spellings of it. A provider may sign an address or
 * cut its query off, so the query does not count.
 */
function comparable(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return undefined;
  const path = decoded(parsed.pathname).replace(/\/+$/, '');
  return `${parsed.origin}${path}`;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function hashOf(address: string): string {
  return createHash('sha256').update(address).digest('base64url').slice(0, hashLength);
}
