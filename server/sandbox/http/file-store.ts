import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Records, Storage } from '../storage.ts';
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

const defaultLifetimeMs = 24 * 60 * 60 * 1000;
const cleanupIntervalMs = 60_000;
/** Suffix of a file while it is being written. */
const partSuffix = '.part';

interface StoredFile {
  extension: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

interface FileRequest {
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
}

export interface FileStoreOptions<Recipe> {
  /** Path segment of the URLs, and subfolder of the storage folder. Has no slashes. */
  folder: string;
  storage: Storage;
  /** Maximum total size in bytes. The least recently used files are evicted. */
  maxBytes: number;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Renders a deferred file. The same recipe always produces the same file. */
  render?: (recipe: Recipe) => Promise<Uint8Array>;
}

/** Files on disk, served by signed URLs that expire. The modification time of a file stores its expiry. */
export class FileStore<Recipe = never> {
  readonly #options: FileStoreOptions<Recipe>;
  readonly #directory: string;
  readonly #secret: Uint8Array;
  readonly #recipes: Records<StoredFile & { recipe: Recipe }>;
  readonly #files = new Map<string, StoredFile>();
  readonly #rendering = new Map<string, Promise<void>>();
  /** Sizes of the files on disk, the least recently used first. */
  readonly #storedSizes = new Map<string, number>();
  #size = 0;
  #cleanedUpAt = 0;
  /** Base URL of the server, without a trailing slash. Set when the server knows its port. */
  baseUrl = '';

  constructor(options: FileStoreOptions<Recipe>) {
    const { storage, folder } = options;
    this.#options = options;
    this.#secret = storage.getOrCreate('secret', () => randomBytes(32));
    this.#recipes = storage.records(`recipe in ${folder}`);
    this.#directory = join(storage.folder, folder);
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    for (const [id, { extension, expiresAt }] of this.#recipes.all())
      this.#files.set(id, { extension, expiresAt });
    for (const { name, size, expiresAt } of listFiles(this.#directory)) {
      const [id = '', extension = ''] = name.split('.');
      this.#files.set(id, { extension, expiresAt });
      this.#storedSizes.set(id, size);
      this.#size += size;
    }
    this.#dropExpired();
  }

  /** Returns the expiry of a file that is stored now, in Unix seconds. */
  defaultExpirySeconds(): number {
    return Math.floor((this.#options.now() + defaultLifetimeMs) / 1000);
  }

  /** Stores a file, which can be evicted before it expires, and returns its URL. `expiresAt` is in milliseconds. */
  storeAndSign(
    bytes: Uint8Array,
    extension: string,
    expiresAt = this.#options.now() + defaultLifetimeMs,
  ): string {
    return this.signUrl(this.store(bytes, extension, expiresAt), expiresAt);
  }

  /** Stores a file and returns its name. */
  store(bytes: Uint8Array, extension: string, expiresAt: number): string {
    const id = randomUUID();
    const file = { extension, expiresAt };
    this.#add(id, file);
    this.#write(id, bytes, file);
    return `${id}.${extension}`;
  }

  /** Returns a URL of the file that is valid until `expiresAt`, in milliseconds, or until the file itself expires. */
  signUrl(name: string, expiresAt: number): string {
    const expires = String(Math.floor(expiresAt / 1000));
    const { folder } = this.#options;
    return `${this.baseUrl}/${folder}/${name}?expires=${expires}&signature=${this.#sign(name, expires)}`;
  }

  /** Returns the name of a file that is rendered on the first download, so an unused file costs nothing. */
  storeDeferred(extension: string, expiresAt: number, recipe: Recipe): string {
    const id = randomUUID();
    this.#recipes.put(id, { extension, expiresAt, recipe });
    this.#add(id, { extension, expiresAt });
    return `${id}.${extension}`;
  }

  /**
   * Handles GET and HEAD of a file, with an optional byte range. The signature authorizes the request, so no API key is
   * needed.
   */
  readonly serve = async ({ request, response, url }: FileRequest): Promise<void> => {
    const name = url.pathname.split('/').at(-1) ?? '';
    const [id = '', extension = ''] = name.split('.');
    const [expires = '', signature = ''] = ['expires', 'signature'].map(
      (key) => url.searchParams.get(key) ?? '',
    );
    if (/^\d+$/.test(expires) && Number(expires) * 1000 <= this.#options.now()) throw forbidden();
    const file = this.#files.get(id);
    if (file?.extension !== extension) throw notFound();
    if (!isEqual(signature, this.#sign(name, expires))) throw forbidden();

    const opened = await this.#open(id, file);
    try {
      const { size } = await opened.stat();
      const range = parseRange(request.headers.range, size);
      if (range === 'unsatisfiable') {
        response.writeHead(416, { 'content-range': `bytes */${size}`, 'content-length': 0 }).end();
        return;
      }
      const [start, end] = range ?? [0, size];
      const bytes = Buffer.alloc(request.method === 'HEAD' ? 0 : end - start);
      await opened.read(bytes, 0, bytes.length, start);
      response.writeHead(range ? 206 : 200, {
        'content-type': contentTypes[extension] ?? 'application/octet-stream',
        'content-length': end - start,
        'accept-ranges': 'bytes',
        ...(range && { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
      });
      response.end(bytes);
    } finally {
      await opened.close();
    }
  };

  #add(id: string, file: StoredFile): void {
    this.#dropExpired();
    this.#files.set(id, file);
  }

  async #open(id: string, file: StoredFile): Promise<FileHandle> {
    const size = this.#storedSizes.get(id);
    if (size === undefined) {
      const pending =
        this.#rendering.get(id) ?? this.#render(id, file).finally(() => this.#rendering.delete(id));
      this.#rendering.set(id, pending);
      await pending;
    } else {
      this.#storedSizes.delete(id);
      this.#storedSizes.set(id, size);
    }
    return await open(this.#path(id, file.extension));
  }

  async #render(id: string, file: StoredFile): Promise<void> {
    const stored = this.#recipes.get(id);
    if (stored === undefined || this.#options.render === undefined) throw notFound();
    this.#write(id, await this.#options.render(stored.recipe), file);
  }

  #write(id: string, bytes: Uint8Array, { extension, expiresAt }: StoredFile): void {
    const path = this.#path(id, extension);
    writeFileSync(path + partSuffix, bytes, { mode: 0o600 });
    utimesSync(path + partSuffix, expiresAt / 1000, expiresAt / 1000);
    renameSync(path + partSuffix, path);
    this.#storedSizes.set(id, bytes.length);
    this.#size += bytes.length;
    for (const oldest of this.#storedSizes.keys()) {
      if (this.#size <= this.#options.maxBytes || oldest === id) break;
      this.#evict(oldest);
    }
  }

  #evict(id: string): void {
    this.#size -= this.#storedSizes.get(id) ?? 0;
    if (this.#storedSizes.delete(id))
      rmSync(this.#path(id, this.#files.get(id)?.extension ?? ''), { force: true });
  }

  #dropExpired(): void {
    const now = this.#options.now();
    if (now - this.#cleanedUpAt < cleanupIntervalMs) return;
    this.#cleanedUpAt = now;
    const expired = Array.from(this.#files).flatMap(([id, { expiresAt }]) => (expiresAt > now ? [] : [id]));
    for (const id of expired) {
      this.#evict(id);
      this.#files.delete(id);
    }
    this.#recipes.delete(expired);
  }

  #path(id: string, extension: string): string {
    return join(this.#directory, `${id}.${extension}`);
  }

  #sign(name: string, expires: string): string {
    return createHmac('sha256', this.#secret).update(`${name}\n${expires}`).digest('hex');
  }
}

/** Lists the complete files of a folder by expiry, the earliest first. Deletes incomplete files. */
function listFiles(directory: string): { name: string; size: number; expiresAt: number }[] {
  const files = readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    if (name.endsWith(partSuffix)) {
      rmSync(path, { force: true });
      return [];
    }
    const { size, mtimeMs } = statSync(path);
    return [{ name, size, expiresAt: Math.round(mtimeMs) }];
  });
  return files.sort((first, second) => first.expiresAt - second.expiresAt);
}

function isEqual(actual: string, expected: string): boolean {
  const [first, second] = [Buffer.from(actual), Buffer.from(expected)];
  return first.length === second.length && timingSafeEqual(first, second);
}

function notFound(): NativeError {
  return new NativeError(404, 'NoSuchKey', 'The file does not exist');
}

function forbidden(): NativeError {
  return new NativeError(403, 'AccessDenied', 'The URL has expired or its signature is invalid');
}

/** Parses a single byte range into start and exclusive end. Returns undefined for a header that can be ignored. */
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
