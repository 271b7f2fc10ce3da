import type { Unit } from '../../../generated/catalogue.ts';
import { Failure } from '../../failure.ts';
import type { Usage } from '../../ledger/metering.ts';
import { field } from '../json.ts';
import { FileHosts, type FileRequest } from '../provider-file.ts';
import type { ProviderWords } from '../provider-words.ts';
import { betaFailure, toldFailure } from '../rejection.ts';
import { readEvents } from './events.ts';
import { readUsage } from './usage.ts';

const hosts = new FileHosts({
  keepAliveTimeout: 10_000,
  headersTimeout: 30_000,
  bodyTimeout: 60_000,
});

/** Where a finished native answer has its audio. */
export function audioSource(answer: unknown): { url: string } | { bytes: Buffer } | undefined {
  const output = field(answer, 'output');
  const url = field(field(output, 'audio'), 'url') ?? field(field(output, 'data'), 'audio');
  if (typeof url === 'string' && /^https?:\/\//.test(url)) return { url };
  const data = field(field(output, 'audio'), 'data');
  if (typeof data === 'string' && data !== '') return { bytes: Buffer.from(data, 'base64') };
  const hexadecimal = field(field(output, 'data'), 'audio');
  if (typeof hexadecimal === 'string' && hexadecimal !== '')
    return { bytes: Buffer.from(hexadecimal, 'hex') };
  return undefined;
}

/**
 * Opens the audio file that an upstream named.
 *
 * @throws Failure 502 or 504 when it cannot be had.
 */
export async function openAudio(
  url: string,
  request: FileRequest,
): Promise<{ body: AsyncIterable<Buffer>; size: string | undefined }> {
  const { status, headers, body } = await hosts.open(url, request);
  if (status === 200) {
    const size = headers['content-length'];
    return { body, size: typeof size === 'string' ? size : undefined };
  }
  await body.dump();
  throw new Failure(502, 'bad_response', 'The provider made audio that could not be fetched.');
}

/** Decodes the audio out of native events, one piece an event, and remembers the usage they report. */
export class EventAudio {
  readonly #unit: Unit;
  readonly #words: ProviderWords;
  #usage: Usage | undefined;
  #delivered = false;

  constructor(unit: Unit, words: ProviderWords) {
    this.#unit = unit;
    this.#words = words;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** Whether any audio has been handed out. */
  get delivered(): boolean {
    return this.#delivered;
  }

  /** @throws Failure when an event says that the synthesis failed, or is not JSON. */
  async *decode(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
    for await (const { type, data } of readEvents(body)) {
      const event = parseEvent(data);
      const code = field(event, 'code');
      if (type === 'error' || typeof code === 'string')
        throw toldFailure(code, field(event, 'message'), this.#words);
      const output = field(event, 'output');
      const failed = betaFailure(output, this.#words);
      if (failed !== undefined) throw failed;
      this.#usage = readUsage(this.#unit, field(event, 'usage')) ?? this.#usage;
      const piece = decodePiece(output);
      if (piece.length > 0) {
        this.#delivered = true;
        yield piece;
      }
    }
  }
}

function decodePiece(output: unknown): Buffer {
  const base64 = field(field(output, 'audio'), 'data');
  if (typeof base64 === 'string') return Buffer.from(base64, 'base64');
  const hexadecimal = field(field(output, 'data'), 'audio');
  return typeof hexadecimal === 'string' ? Buffer.from(hexadecimal, 'hex') : Buffer.alloc(0);
}

function parseEvent(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new Failure(502, 'bad_response', 'The provider sent an event that is not JSON.', { cause });
  }
}
