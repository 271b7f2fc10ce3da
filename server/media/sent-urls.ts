import { createHash } from 'node:crypto';

/** URLs of a request that are stored with a task. A request with more counts as naming any URL. */
const maxStoredUrls = 200;
const anyUrl = '*';
/** Longer strings of a request are inline media without URLs. */
const maxTextLength = 1024 * 1024;
/** Characters of a hash: 96 bits. */
const hashLength = 16;

/** URLs that a client sent. A file at one of them was not made by the provider. */
export class SentUrls {
  readonly #urls = new Set<string>();

  /** Collects the URLs in all strings of the values. */
  constructor(...values: readonly unknown[]) {
    for (const value of values) this.#collect(value);
  }

  /** Whether the client sent this URL in any spelling. */
  has(url: string): boolean {
    const normalized = normalize(url);
    return normalized !== undefined && this.#urls.has(normalized);
  }

  /** Hashes of the URLs for `wasSent`, which are stored with a task. */
  hashes(): readonly string[] {
    return this.#urls.size > maxStoredUrls ? [anyUrl] : [...this.#urls].map(hashOf);
  }

  #collect(value: unknown): void {
    if (typeof value === 'string') {
      if (value.length > maxTextLength || /^data:/i.test(value)) return;
      for (const [found] of value.matchAll(/https?:[^\s"'<>]+/gi)) {
        const normalized = normalize(found);
        if (normalized !== undefined) this.#urls.add(normalized);
      }
    } else if (typeof value === 'object' && value !== null) {
      for (const inner of Object.values(value)) this.#collect(inner);
    }
  }
}

/** Whether a URL is one of those that `SentUrls.hashes` returned. */
export function wasSent(url: string, hashes: unknown): boolean {
  if (!Array.isArray(hashes)) return false;
  const normalized = normalize(url);
  return normalized === undefined || hashes.includes(anyUrl) || hashes.includes(hashOf(normalized));
}

/** Origin and path of a URL in any spelling, without the query, which a provider may sign or remove. */
function normalize(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return undefined;
  const path = decode(parsed.pathname).replace(/\/+$/, '');
  return `${parsed.origin}${path}`;
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function hashOf(normalized: string): string {
  return createHash('sha256').update(normalized).digest('base64url').slice(0, hashLength);
}
