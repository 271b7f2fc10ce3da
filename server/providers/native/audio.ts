import type { IncomingHttpHeaders } from 'node:http';
import type { Unit } from '../../../generated/catalogue.ts';
import { Failure } from '../../lib/failure.ts';
import type { HttpResponse } from '../../outbound/send-request.ts';
import type { Usage } from '../../quota/metering.ts';
import { field } from '../json.ts';
import { FileHosts, type FileRequest } from '../provider-file.ts';
import type { ProviderWords } from '../provider-words.ts';
import { audioType, headLength } from './audio-file.ts';
import { readEvents } from './events.ts';
import { brokenOff, readSpeechEvent } from './speech-event.ts';
import type { AudioFormat } from './speech-request.ts';
import { readUsage } from './usage.ts';

const hosts = new FileHosts({
  keepAliveTimeout: 10_000,
  headersTimeout: 30_000,
  bodyTimeout: 60_000,
});

/**
 * Opens the audio file that an upstream named.
 *
 * @throws Failure 502 or 504 when it cannot be had.
 */
export async function openAudio(url: string, request: FileRequest): Promise<HttpResponse> {
  const opened = await hosts.open(url, request);
  if (opened.status === 200) return opened;
  await opened.body.dump();
  throw new Failure(502, 'bad_response', 'The provider made audio that could not be fetched.');
}

/** Looks at an audio file while it passes: at its beginning, and for its last byte, which tells a client that it has all. */
export class AudioPassage {
  readonly #format: AudioFormat;
  readonly #headers: IncomingHttpHeaders;
  /** Bytes that have not come yet; undefined: nobody says how many. */
  #missing: number | undefined;
  /** The beginning, as long as it is too short to tell. */
  #head: Buffer | undefined = Buffer.alloc(0);
  #mediaType: string | undefined;

  constructor(format: AudioFormat, headers: IncomingHttpHeaders) {
    this.#format = format;
    this.#headers = headers;
    const length = headers['content-length'];
    this.#missing = length === undefined ? undefined : Number(length);
  }

  /** Undefined until enough of it has come; after that it passes. */
  get mediaType(): string | undefined {
    return this.#mediaType;
  }

  /** What may go on; the last byte of a file of known length does not. @throws Failure 502 when it is no audio. */
  take(piece: Buffer): { parts: readonly Buffer[]; last?: Buffer } {
    const bytes = this.#head === undefined ? piece : Buffer.concat([this.#head, piece]);
    if (this.#missing !== undefined) this.#missing -= piece.length;
    if (this.#head !== undefined && bytes.length < headLength && this.#missing !== 0) {
      this.#head = bytes;
      return { parts: [] };
    }
    this.#judge(bytes);
    if (this.#missing !== 0) return { parts: [bytes] };
    return { parts: [bytes.subarray(0, -1)], last: Buffer.from(bytes.subarray(-1)) };
  }

  /** What is left where nobody said how long it is. @throws Failure 502 when it is no audio. */
  end(): readonly Buffer[] {
    const rest = this.#head;
    if (rest === undefined) return [];
    this.#judge(rest);
    return [rest];
  }

  #judge(beginning: Buffer): void {
    if (this.#head === undefined) return;
    this.#head = undefined;
    this.#mediaType = audioType(this.#format, beginning.subarray(0, headLength), this.#headers);
    if (this.#mediaType === undefined)
      throw new Failure(502, 'bad_response', 'The provider made a file that is no audio.');
  }
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

  /** @throws Failure when an event says that the synthesis failed, or makes no sense, or the last one is missing. */
  async *decode(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let ended = false;
    for await (const event of readEvents(body)) {
      const { output, usage, last, failure } = readSpeechEvent(event, this.#words);
      if (failure !== undefined) throw failure;
      this.#usage = readUsage(this.#unit, usage) ?? this.#usage;
      ended ||= last;
      const piece = decodePiece(output);
      // The last event may repeat all of it.
      if (piece.length === 0 || (last && this.#delivered)) continue;
      this.#delivered = true;
      yield piece;
    }
    if (!ended) throw brokenOff();
  }
}

function decodePiece(output: unknown): Buffer {
  const base64 = field(field(output, 'audio'), 'data');
  if (typeof base64 === 'string') return Buffer.from(base64, 'base64');
  const hexadecimal = field(field(output, 'data'), 'audio');
  return typeof hexadecimal === 'string' ? Buffer.from(hexadecimal, 'hex') : Buffer.alloc(0);
}
