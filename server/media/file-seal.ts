import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import type { FileOwner } from './file-links.ts';

/** A provider's file that the gateway serves to a user until it expires. */
export interface SealedFile extends Required<FileOwner> {
  /** The provider's URL. */
  readonly url: string;
  /** Epoch milliseconds, in whole seconds. */
  readonly expiresAt: number;
}

const cipher = 'aes-256-gcm';
const nonceLength = 12;
const tagLength = 16;

/** Encrypts files into tokens, always the same for a file. The nonce is a keyed hash, so no two files share one. */
export class FileSeal {
  readonly #key: Buffer;
  readonly #nonceKey: Buffer;

  /** `secret` has at least 256 random bits. */
  constructor(secret: string) {
    const derived = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
    this.#key = derived('unigate file links: content');
    this.#nonceKey = derived('unigate file links: nonce');
  }

  seal({ url, channel, userId, expiresAt, publicOnly }: SealedFile): string {
    const facts = [url, channel, userId, Math.floor(expiresAt / 1_000), publicOnly ? 1 : 0];
    const plain = JSON.stringify(facts);
    const nonce = createHmac('sha256', this.#nonceKey).update(plain).digest().subarray(0, nonceLength);
    const sealing = createCipheriv(cipher, this.#key, nonce);
    const sealed = [nonce, sealing.update(plain, 'utf8'), sealing.final(), sealing.getAuthTag()];
    return Buffer.concat(sealed).toString('base64url');
  }

  /** Undefined for a token that was not sealed with this secret. */
  open(token: string): SealedFile | undefined {
    const bytes = Buffer.from(token, 'base64url');
    // Rejects other encodings of the same bytes, which would be other links to the same file.
    if (bytes.length <= nonceLength + tagLength || bytes.toString('base64url') !== token) return undefined;
    const opening = createDecipheriv(cipher, this.#key, bytes.subarray(0, nonceLength), {
      authTagLength: tagLength,
    });
    opening.setAuthTag(bytes.subarray(-tagLength));
    try {
      const sealed = bytes.subarray(nonceLength, -tagLength);
      const plain = Buffer.concat([opening.update(sealed), opening.final()]).toString('utf8');
      const [url, channel, userId, seconds, publicOnly] = JSON.parse(plain) as Facts;
      return { url, channel, userId, expiresAt: seconds * 1_000, publicOnly: publicOnly === 1 };
    } catch {
      return undefined;
    }
  }
}

type Facts = [url: string, channel: string, userId: number, seconds: number, publicOnly: 0 | 1];
