import type { IncomingHttpHeaders } from 'node:http';
import type { Unit } from '../../../generated/catalogue.ts';
import { field, textField } from '../../lib/json.ts';
import type { HttpResponse } from '../../outbound/send-request.ts';
import type { Usage } from '../../quota/metering.ts';
import { FileHosts, type FileRequest } from '../provider-file.ts';
import type { ProviderRedactor } from '../provider-redactor.ts';
import { readUsage } from '../token-usage.ts';
import { badResponse } from '../unusable-response.ts';
import { audioType, headLength } from './audio-file.ts';
import { readEvents } from './events.ts';
import { incompleteStream, readSpeechEvent } from './speech-event.ts';
import type { AudioFormat } from './speech-request.ts';

const hosts = new FileHosts();

/** Opens an upstream's audio file. @throws Failure 502 or 504 when it cannot be fetched */
export async function openAudio(url: string, request: FileRequest): Promise<HttpResponse> {
  const opened = await hosts.open(url, request);
  if (opened.status === 200) return opened;
  await opened.body.dump();
  throw badResponse('The provider returned the URL of audio that cannot be fetched.');
}

/** Returns the media type of a whole audio file. @throws Failure 502 when it is not audio */
export function typeOfFile(format: AudioFormat, bytes: Buffer, headers: IncomingHttpHeaders): string {
  const type = audioType(format, bytes.subarray(0, headLength), headers);
  if (type === undefined) throw badResponse('The provider returned a file that is not audio.');
  return type;
}

/** Inspects an audio file while it is forwarded: detects its type, and holds back its last byte. */
export class AudioInspector {
  readonly #format: AudioFormat;
  readonly #headers: IncomingHttpHeaders;
  /** Bytes to come. Undefined if the length is unknown. */
  #remaining: number | undefined;
  /** The beginning, while it is too short to detect the type. */
  #head: Buffer | undefined = Buffer.alloc(0);
  /** Undefined until enough bytes have arrived. */
  mediaType: string | undefined;

  constructor(format: AudioFormat, headers: IncomingHttpHeaders) {
    this.#format = format;
    this.#headers = headers;
    const length = headers['content-length'];
    this.#remaining = length === undefined ? undefined : Number(length);
  }

  /** Returns the bytes to send, without the last one of a known length. @throws Failure 502 when it is not audio. */
  write(chunk: Buffer): { parts: readonly Buffer[]; last?: Buffer } {
    const bytes = this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk]);
    if (this.#remaining !== undefined) this.#remaining -= chunk.length;
    if (this.#head !== undefined && bytes.length < headLength && this.#remaining !== 0) {
      this.#head = bytes;
      return { parts: [] };
    }
    this.#detectType(bytes);
    if (this.#remaining !== 0) return { parts: [bytes] };
    return { parts: [bytes.subarray(0, -1)], last: Buffer.from(bytes.subarray(-1)) };
  }

  /** Returns the remaining bytes. @throws Failure 502 when it is not audio. */
  end(): readonly Buffer[] {
    const rest = this.#head;
    if (rest === undefined) return [];
    this.#detectType(rest);
    return [rest];
  }

  #detectType(beginning: Buffer): void {
    if (this.#head === undefined) return;
    this.#head = undefined;
    this.mediaType = typeOfFile(this.#format, beginning, this.#headers);
  }
}

/** Decodes the audio of native events, one chunk per event, and stores the reported usage. */
export class EventAudioDecoder {
  readonly #unit: Unit;
  readonly #redactor: ProviderRedactor;
  usage: Usage | undefined;
  delivered = false;

  constructor(unit: Unit, redactor: ProviderRedactor) {
    this.#unit = unit;
    this.#redactor = redactor;
  }

  /** @throws Failure for a failed synthesis, an invalid event or a missing last event */
  async *decode(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let isEnded = false;
    for await (const event of readEvents(body)) {
      const { output, usage, isLast, failure } = readSpeechEvent(event, this.#redactor);
      if (failure !== undefined) throw failure;
      this.usage = readUsage(this.#unit, usage) ?? this.usage;
      isEnded ||= isLast;
      const chunk = decodeAudio(output);
      // The last event may repeat the whole audio.
      if (chunk.length === 0 || (isLast && this.delivered)) continue;
      this.delivered = true;
      yield chunk;
    }
    if (!isEnded) throw incompleteStream();
  }
}

function decodeAudio(output: unknown): Buffer {
  const base64 = textField(field(output, 'audio'), 'data');
  if (base64 !== undefined) return Buffer.from(base64, 'base64');
  return Buffer.from(textField(field(output, 'data'), 'audio') ?? '', 'hex');
}
