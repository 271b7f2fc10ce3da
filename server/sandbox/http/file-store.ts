import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';

const lifetimeSeconds = 24 * 60 * 60;

export interface StoredFile {
  bytes: Buffer;
  /** File name extension without the dot. */
  extension: string;
  /** Unix seconds. */
  expiresAt: number;
}

export interface FileStoreOptions {
  /** Most bytes kept; the file used longest ago makes room. */
  capacity: number;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Result files in memory behind signed URLs that live 24 hours. */
export class FileStore {
  readonly #capacity: number;
  readonly #now: () => number;
  readonly #secret = randomBytes(32);
  /** In order of use, the longest unused first. */
  readonly #files = new Map<string, StoredFile>();
  #size = 0;
  /** Set as soon as the server knows its port. */
  baseUrl = '';

  constructor({ capacity, now }: FileStoreOptions) {
    this.#capacity = capacity;
    this.#now = now;
  }

  /** When a file stored now runs out, in Unix seconds. */
  expiry(): number {
    return Math.floor(this.#now() / 1000) + lifetimeSeconds;
  }

  /** Keeps the bytes and returns their signed URL. `expiresAt` is in Unix seconds. */
  put(bytes: Buffer, extension: string, expiresAt = this.expiry()): string {
    this.#dropExpired();
    const id = randomUUID();
    this.#files.set(id, { bytes, extension, expiresAt });
    this.#size += bytes.length;
    for (const oldest of this.#files.keys()) {
      if (this.#size <= this.#capacity || oldest === id) break;
      this.#drop(oldest);
    }
    const name = `${id}.${extension}`;
    return `${this.baseUrl}/files/${name}?expires=${expiresAt}&signature=${this.#sign(name, String(expiresAt))}`;
  }

  /** The file of a signed URL. `unknown` also when it had to make room; `forbidden` when it ran out or is not signed. */
  get(name: string, expires: string, signature: string): StoredFile | 'unknown' | 'forbidden' {
    if (/^\d+$/.test(expires) && Number(expires) * 1000 <= this.#now()) return 'forbidden';
    const [id = '', extension] = name.split('.');
    const file = this.#files.get(id);
    if (file?.extension !== extension || !file) return 'unknown';
    if (!this.#matches(signature, this.#sign(name, expires))) return 'forbidden';
    this.#files.delete(id);
    this.#files.set(id, file);
    return file;
  }

  #sign(name: string, expires: string): string {
    return createHmac('sha256', this.#secret).update(`${name}\n${expires}`).digest('hex');
  }

  #matches(given: string, right: string): boolean {
    const [first, second] = [Buffer.from(given), Buffer.from(right)];
    return first.length === second.length && timingSafeEqual(first, second);
  }

  #dropExpired(): void {
    for (const [id, file] of this.#files) if (file.expiresAt * 1000 <= this.#now()) this.#drop(id);
  }

  #drop(id: string): void {
    this.#size -= this.#files.get(id)?.bytes.length ?? 0;
    this.#files.delete(id);
  }
}
