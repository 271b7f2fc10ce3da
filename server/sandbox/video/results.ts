import { randomUUID } from 'node:crypto';
import type { Exchange } from '../http/exchange.ts';
import { NativeError } from '../http/native-error.ts';

const contentTypes: Readonly<Record<string, string>> = {
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  bmp: 'image/bmp',
  tiff: 'image/tiff',
  heic: 'image/heic',
  heif: 'image/heif',
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  glb: 'model/gltf-binary',
};

/** Milliseconds. */
const cleaningInterval = 60_000;

interface Result {
  extension: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  make: () => Promise<Uint8Array>;
}

export interface ResultFilesOptions {
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Most bytes of made files that are kept; one that had to make room is made again. */
  capacity: number;
}

/**
 * Files behind URLs that nobody can guess and that run out. A file is made when it is first downloaded, so that a
 * task nobody looks at costs nothing.
 */
export class ResultFiles {
  readonly #now: () => number;
  readonly #capacity: number;
  readonly #results = new Map<string, Result>();
  readonly #making = new Map<string, Promise<Uint8Array>>();
  /** In order of use, the longest unused first. */
  readonly #made = new Map<string, Uint8Array>();
  #size = 0;
  #cleanedAt = 0;
  /** Address of the server, without a slash at the end; set as soon as it knows its port. */
  baseUrl = '';

  constructor({ now, capacity }: ResultFilesOptions) {
    this.#now = now;
    this.#capacity = capacity;
  }

  /** Promises a file and returns its URL. `make` must always give the same file. */
  add(extension: string, expiresAt: number, make: () => Promise<Uint8Array>): string {
    this.#dropExpired();
    const id = randomUUID();
    this.#results.set(id, { extension, expiresAt, make });
    return `${this.baseUrl}/media/${id}.${extension}?expires=${Math.floor(expiresAt / 1000)}`;
  }

  /** GET and HEAD of a file, whole or one byte range. Needs no key: knowing the URL is the permission. */
  readonly serve = async ({ request, response, url }: Exchange): Promise<void> => {
    const [id = '', extension = ''] = url.pathname.slice('/media/'.length).split('.');
    const result = this.#results.get(id);
    const expiresAt = result?.expiresAt ?? Number(url.searchParams.get('expires') ?? Infinity) * 1000;
    if (expiresAt <= this.#now()) throw new NativeError(403, 'AccessDenied', 'The URL has expired');
    if (result?.extension !== extension) throw new NativeError(404, 'NoSuchKey', 'There is no such file');

    const bytes = await this.#bytesOf(id, result);
    const size = bytes.length;
    const range = parseRange(request.headers.range, size);
    if (range === 'unsatisfiable') {
      response.writeHead(416, { 'content-range': `bytes */${size}`, 'content-length': 0 }).end();
      return;
    }
    const [start, end] = range ?? [0, size];
    response.writeHead(range ? 206 : 200, {
      'content-type': contentTypes[extension] ?? 'application/octet-stream',
      'content-length': end - start,
      'accept-ranges': 'bytes',
      ...(range && { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
    });
    response.end(request.method === 'HEAD' ? undefined : bytes.subarray(start, end));
  };

  async #bytesOf(id: string, { make }: Result): Promise<Uint8Array> {
    const made = this.#made.get(id);
    if (made) {
      this.#made.delete(id);
      this.#made.set(id, made);
      return made;
    }
    let making = this.#making.get(id);
    if (!making) {
      making = make().finally(() => this.#making.delete(id));
      this.#making.set(id, making);
      this.#keep(id, await making);
    }
    return await making;
  }

  #keep(id: string, bytes: Uint8Array): void {
    this.#made.set(id, bytes);
    this.#size += bytes.length;
    for (const oldest of this.#made.keys()) {
      if (this.#size <= this.#capacity) break;
      this.#forget(oldest);
    }
  }

  #forget(id: string): void {
    this.#size -= this.#made.get(id)?.length ?? 0;
    this.#made.delete(id);
  }

  #dropExpired(): void {
    if (this.#now() - this.#cleanedAt < cleaningInterval) return;
    this.#cleanedAt = this.#now();
    for (const [id, { expiresAt }] of this.#results) {
      if (expiresAt > this.#now()) continue;
      this.#results.delete(id);
      this.#forget(id);
    }
  }
}

/** One range as start and exclusive end; undefined for a header that may be ignored. */
function parseRange(
  header: string | undefined,
  size: number,
): [number, number] | 'unsatisfiable' | undefined {
  const [, first, last] = /^\s*bytes=(\d*)-(\d*)\s*$/.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return start < end ? [start, end] : 'unsatisfiable';
}
