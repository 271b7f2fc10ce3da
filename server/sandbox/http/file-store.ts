import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { NativeError } from './native-error.ts';

const contentTypes: Readonly<Record<string, string>> = {
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  json: 'application/json',
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
  glb: 'model/gltf-binary',
};

const defaultLifetime = 24 * 60 * 60 * 1000;
const cleaningInterval = 60_000;

interface StoredFile {
  extension: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  make: () => Promise<Uint8Array>;
}

interface FileRequest {
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
}

export interface FileStoreOptions {
  /** Folder of the URLs, without slashes. */
  folder: string;
  /** Most bytes that are kept; the file used longest ago makes room. */
  capacity: number;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Files in memory behind signed URLs that run out. */
export class FileStore {
  readonly #options: FileStoreOptions;
  readonly #secret = randomBytes(32);
  readonly #files = new Map<string, StoredFile>();
  readonly #making = new Map<string, Promise<Uint8Array>>();
  /** In order of use, the longest unused first. */
  readonly #made = new Map<string, Uint8Array>();
  #size = 0;
  #cleanedAt = 0;
  /** Address of the server, without a slash at the end; set as soon as it knows its port. */
  baseUrl = '';

  constructor(options: FileStoreOptions) {
    this.#options = options;
  }

  /** When a file that is stored now runs out, in Unix seconds. */
  expiry(): number {
    return Math.floor((this.#options.now() + defaultLifetime) / 1000);
  }

  /** Keeps the bytes for as long as there is room, and returns their URL. `expiresAt` is in milliseconds. */
  put(bytes: Uint8Array, extension: string, expiresAt = this.#options.now() + defaultLifetime): string {
    const id = randomUUID();
    const url = this.#add(id, { extension, expiresAt, make: () => Promise.reject(notFound()) });
    this.#keep(id, bytes);
    return url;
  }

  /**
   * Returns the URL of a file that is made when it is first downloaded, so that one nobody looks at costs nothing.
   * `make` must always give the same file, since one that had to make room is made again.
   */
  add(extension: string, expiresAt: number, make: () => Promise<Uint8Array>): string {
    return this.#add(randomUUID(), { extension, expiresAt, make });
  }

  /** GET and HEAD of a file, whole or one byte range. Needs no key: the signature is the permission. */
  readonly serve = async ({ request, response, url }: FileRequest): Promise<void> => {
    const name = url.pathname.split('/').at(-1) ?? '';
    const [id = '', extension = ''] = name.split('.');
    const [expires = '', signature = ''] = ['expires', 'signature'].map(
      (key) => url.searchParams.get(key) ?? '',
    );
    if (/^\d+$/.test(expires) && Number(expires) * 1000 <= this.#options.now()) throw forbidden();
    const file = this.#files.get(id);
    if (file?.extension !== extension) throw notFound();
    if (!isSame(signature, this.#sign(name, expires))) throw forbidden();

    const bytes = await this.#bytesOf(id, file);
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

  #add(id: string, file: StoredFile): string {
    this.#dropExpired();
    this.#files.set(id, file);
    const name = `${id}.${file.extension}`;
    const expires = String(Math.floor(file.expiresAt / 1000));
    const { folder } = this.#options;
    return `${this.baseUrl}/${folder}/${name}?expires=${expires}&signature=${this.#sign(name, expires)}`;
  }

  async #bytesOf(id: string, { make }: StoredFile): Promise<Uint8Array> {
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
      if (this.#size <= this.#options.capacity || oldest === id) break;
      this.#forget(oldest);
    }
  }

  #forget(id: string): void {
    this.#size -= this.#made.get(id)?.length ?? 0;
    this.#made.delete(id);
  }

  #dropExpired(): void {
    const now = this.#options.now();
    if (now - this.#cleanedAt < cleaningInterval) return;
    this.#cleanedAt = now;
    for (const [id, { expiresAt }] of this.#files) {
      if (expiresAt > now) continue;
      this.#files.delete(id);
      this.#forget(id);
    }
  }

  #sign(name: string, expires: string): string {
    return createHmac('sha256', this.#secret).update(`${name}\n${expires}`).digest('hex');
  }
}

function isSame(given: string, right: string): boolean {
  const [first, second] = [Buffer.from(given), Buffer.from(right)];
  return first.length === second.length && timingSafeEqual(first, second);
}

function notFound(): NativeError {
  return new NativeError(404, 'NoSuchKey', 'There is no such file');
}

function forbidden(): NativeError {
  return new NativeError(403, 'AccessDenied', 'The URL has expired or its signature is wrong');
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
