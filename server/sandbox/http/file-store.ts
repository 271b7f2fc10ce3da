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

const defaultLifetime = 24 * 60 * 60 * 1000;
const cleaningInterval = 60_000;
/** Ending of a file that is being written. */
const unfinished = '.part';

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
  /** Folder of the URLs, without slashes, and of the files in the storage. */
  folder: string;
  storage: Storage;
  /** Most bytes that are kept; the file used longest ago makes room. */
  capacity: number;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Makes a file that was only promised: from the same recipe always the same one. */
  make?: (recipe: Recipe) => Promise<Uint8Array>;
}

/** Files on disk behind signed URLs that run out. The time at which a file was changed is the one when it runs out. */
export class FileStore<Recipe = never> {
  readonly #options: FileStoreOptions<Recipe>;
  readonly #directory: string;
  readonly #secret: Uint8Array;
  readonly #recipes: Records<StoredFile & { recipe: Recipe }>;
  readonly #files = new Map<string, StoredFile>();
  readonly #making = new Map<string, Promise<void>>();
  /** Sizes of those on disk in order of use, the longest unused first. */
  readonly #kept = new Map<string, number>();
  #size = 0;
  #cleanedAt = 0;
  /** Address of the server, without a slash at the end; set as soon as it knows its port. */
  baseUrl = '';

  constructor(options: FileStoreOptions<Recipe>) {
    const { storage, folder } = options;
    this.#options = options;
    this.#secret = storage.fact('secret', () => randomBytes(32));
    this.#recipes = storage.records(`recipe in ${folder}`);
    this.#directory = join(storage.folder, folder);
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    for (const [id, { extension, expiresAt }] of this.#recipes.all())
      this.#files.set(id, { extension, expiresAt });
    for (const { name, size, expiresAt } of filesIn(this.#directory)) {
      const [id = '', extension = ''] = name.split('.');
      this.#files.set(id, { extension, expiresAt });
      this.#kept.set(id, size);
      this.#size += size;
    }
    this.#dropExpired();
  }

  /** When a file that is stored now runs out, in Unix seconds. */
  expiry(): number {
    return Math.floor((this.#options.now() + defaultLifetime) / 1000);
  }

  /** Keeps the bytes for as long as there is room, and returns their URL. `expiresAt` is in milliseconds. */
  put(bytes: Uint8Array, extension: string, expiresAt = this.#options.now() + defaultLifetime): string {
    return this.urlOf(this.keep(bytes, extension, expiresAt), expiresAt);
  }

  /** Keeps the bytes and returns the name of the file. */
  keep(bytes: Uint8Array, extension: string, expiresAt: number): string {
    const id = randomUUID();
    const file = { extension, expiresAt };
    this.#add(id, file);
    this.#write(id, bytes, file);
    return `${id}.${extension}`;
  }

  /** Where a file can be downloaded until `expiresAt`, in milliseconds, or until it runs out itself. */
  urlOf(name: string, expiresAt: number): string {
    const expires = String(Math.floor(expiresAt / 1000));
    const { folder } = this.#options;
    return `${this.baseUrl}/${folder}/${name}?expires=${expires}&signature=${this.#sign(name, expires)}`;
  }

  /** Returns the name of a file that is made when it is first downloaded, so that one nobody looks at costs nothing. */
  promise(extension: string, expiresAt: number, recipe: Recipe): string {
    const id = randomUUID();
    this.#recipes.put(id, { extension, expiresAt, recipe });
    this.#add(id, { extension, expiresAt });
    return `${id}.${extension}`;
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
    const size = this.#kept.get(id);
    if (size === undefined) {
      const making = this.#making.get(id) ?? this.#make(id, file).finally(() => this.#making.delete(id));
      this.#making.set(id, making);
      await making;
    } else {
      this.#kept.delete(id);
      this.#kept.set(id, size);
    }
    return await open(this.#path(id, file.extension));
  }

  async #make(id: string, file: StoredFile): Promise<void> {
    const made = this.#recipes.get(id);
    if (made === undefined || this.#options.make === undefined) throw notFound();
    this.#write(id, await this.#options.make(made.recipe), file);
  }

  #write(id: string, bytes: Uint8Array, { extension, expiresAt }: StoredFile): void {
    const path = this.#path(id, extension);
    writeFileSync(path + unfinished, bytes, { mode: 0o600 });
    utimesSync(path + unfinished, expiresAt / 1000, expiresAt / 1000);
    renameSync(path + unfinished, path);
    this.#kept.set(id, bytes.length);
    this.#size += bytes.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= this.#options.capacity || oldest === id) break;
      this.#forget(oldest);
    }
  }

  #forget(id: string): void {
    this.#size -= this.#kept.get(id) ?? 0;
    if (this.#kept.delete(id)) rmSync(this.#path(id, this.#files.get(id)?.extension ?? ''), { force: true });
  }

  #dropExpired(): void {
    const now = this.#options.now();
    if (now - this.#cleanedAt < cleaningInterval) return;
    this.#cleanedAt = now;
    const expired = Array.from(this.#files).flatMap(([id, { expiresAt }]) => (expiresAt > now ? [] : [id]));
    for (const id of expired) {
      this.#forget(id);
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

/** The finished files of a folder, the one that runs out first before the others; unfinished ones are deleted. */
function filesIn(directory: string): { name: string; size: number; expiresAt: number }[] {
  const files = readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    if (name.endsWith(unfinished)) {
      rmSync(path, { force: true });
      return [];
    }
    const { size, mtimeMs } = statSync(path);
    return [{ name, size, expiresAt: Math.round(mtimeMs) }];
  });
  return files.sort((first, second) => first.expiresAt - second.expiresAt);
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
