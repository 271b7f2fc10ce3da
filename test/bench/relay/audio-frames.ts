import { audioFile } from '../payloads.ts';
import { type AudioFormat, shortFrames } from './plan.ts';
import { serverFrame, textOpcode } from './socket-frames.ts';

const numberDigits = 8;
const timeDigits = 18;
const number = '0'.repeat(numberDigits);
const time = '0'.repeat(timeDigits);

/** Templates of the `response.audio.delta` events. Only the digits differ between the events of a format. */
const templates = new Map<AudioFormat, Buffer>();

function templateOf(format: AudioFormat): Buffer {
  const template = templates.get(format) ?? createTemplate(format);
  templates.set(format, template);
  return template;
}

function createTemplate({ framesPerSecond, sampleRate }: AudioFormat): Buffer {
  const audioBytes = (sampleRate * 2) / framesPerSecond;
  return Buffer.from(
    JSON.stringify({
      event_id: `audio_${number}_${time}`,
      type: 'response.audio.delta',
      response_id: `resp_${number}`,
      item_id: `item_${number}`,
      output_index: 0,
      content_index: 0,
      delta: audioFile.subarray(0, audioBytes).toString('base64'),
    }),
  );
}

/** The offsets are the same in all formats. */
const event = templateOf(shortFrames);
const numberOffset = event.indexOf(number);
const timeOffset = numberOffset + numberDigits + 1;
const responseOffset = event.indexOf('resp_') + 5;
const itemOffset = event.indexOf('item_0') + 5;
/** The rest is the same in all events of a format. */
const constantOffset = itemOffset + numberDigits;

/** Returns the length of an audio event in bytes. */
export function eventBytes(format: AudioFormat): number {
  return templateOf(format).length;
}

/** Audio frames of a server in a reusable buffer. */
export class AudioFrames {
  /** Maximum number of frames per call of `create`. */
  readonly capacity: number;
  readonly #frames: Buffer;
  readonly #frameBytes: number;
  readonly #headBytes: number;

  constructor(format: AudioFormat, capacity: number) {
    const template = templateOf(format);
    const frame = serverFrame(textOpcode, template);
    this.capacity = capacity;
    this.#frames = Buffer.concat(Array.from({ length: capacity }, () => frame));
    this.#frameBytes = frame.length;
    this.#headBytes = frame.length - template.length;
  }

  /**
   * Creates frames numbered from `first` with the current time. They must be sent before the next call.
   *
   * @param response number of their response
   */
  create(count: number, first: number, response: number): Buffer {
    const now = Number(process.hrtime.bigint());
    for (let index = 0; index < count; index += 1) {
      const at = index * this.#frameBytes + this.#headBytes;
      writeDigits(this.#frames, at + numberOffset, numberDigits, first + index);
      writeDigits(this.#frames, at + timeOffset, timeDigits, now);
      writeDigits(this.#frames, at + responseOffset, numberDigits, response);
      writeDigits(this.#frames, at + itemOffset, numberDigits, response);
    }
    return this.#frames.subarray(0, count * this.#frameBytes);
  }
}

const zero = 0x30;

// Writes bytes, because creating strings would cost as much as sending.
function writeDigits(bytes: Buffer, at: number, count: number, value: number): void {
  let remaining = value;
  for (let index = at + count - 1; index >= at; index -= 1) {
    const quotient = Math.floor(remaining / 10);
    bytes[index] = zero + (remaining - quotient * 10);
    remaining = quotient;
  }
}

function readDigits(bytes: Buffer, at: number, count: number): number {
  let value = 0;
  for (let index = at; index < at + count; index += 1) value = value * 10 + ((bytes[index] ?? 0) - zero);
  return value;
}

const letterA = 0x61;
const idOffset = event.indexOf('audio_');

/** Whether an event of the stub is audio. Only ids of audio events start with an "a". */
export function isAudio(payload: Buffer): boolean {
  return payload[idOffset] === letterA;
}

/** Checks every byte of an audio event. @throws Error if it has another number or was changed */
export function checkAudio(payload: Buffer, expected: number, format: AudioFormat): void {
  const template = templateOf(format);
  const found = readDigits(payload, numberOffset, numberDigits);
  if (found !== expected) throw new Error(`received audio frame ${found} instead of ${expected}`);
  if (
    payload.length !== template.length ||
    payload.compare(template, constantOffset, undefined, constantOffset) !== 0
  )
    throw new Error(`audio frame ${found} was changed`);
}

/** Returns the age of an audio event in milliseconds. All processes share the monotonic clock. */
export function delayOf(payload: Buffer): number {
  return (Number(process.hrtime.bigint()) - readDigits(payload, timeOffset, timeDigits)) / 1e6;
}
