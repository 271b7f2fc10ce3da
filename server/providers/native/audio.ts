import type { Unit } from '../../../generated/catalogue.ts';
import { Failure } from '../../failure.ts';
import type { Usage } from '../../ledger/metering.ts';
import { field } from '../json.ts';
import { FileHosts, type FileRequest } from '../provider-file.ts';
import type { ProviderWords } from '../provider-words.ts';
import { audioType, headLength } from './audio-file.ts';
import { readEvents } from './events.ts';
import { brokenOff, readSpeechEvent } from './speech-event.ts';
import type { AudioFormat } from './speech-request.ts';
import { joinBody, readHead } from './split-body.ts';
import { readUsage } from './usage.ts';

const hosts = new FileHosts({
  keepAliveTimeout: 10_000,
  headersTimeout: 30_000,
  bodyTimeout: 60_000,
});

export interface AudioFile {
  /** Whose end is there when all of the file has been read. */
  body: AsyncIterable<Buffer>;
  mediaType: string;
  size: string | undefined;
}

/**
 * Opens the audio file that an upstream named, and looks at its beginning.
 *
 * @throws Failure 502 or 504 when it cannot be had, or is no audio.
 */
export async function openAudio(url: string, format: AudioFormat, request: FileRequest): Promise<AudioFile> {
  const { status, headers, body } = await hosts.open(url, request);
  if (status !== 200) {
    await body.dump();
    throw new Failure(502, 'bad_response', 'The provider made audio that could not be fetched.');
  }
  const parts: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
  const { head, rest } = await readHead(parts, headLength);
  const mediaType = audioType(format, head, headers);
  if (mediaType === undefined) {
    await parts.return?.();
    throw new Failure(502, 'bad_response', 'The provider made a file that is no audio.');
  }
  return { body: joinBody({ head, rest }), mediaType, size: headers['content-length'] };
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
