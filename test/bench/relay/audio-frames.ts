import { audioFile } from '../payloads.ts';
import { serverFrame, textOpcode } from './socket-frames.ts';

/** Frames a second of one session at the pace of speech: 25 ms of PCM with 48,000 samples a second. */
export const framesPerSecond = 40;
export const sampleRate = 48_000;
const audioBytes = (sampleRate * 2) / framesPerSecond;

const numberDigits = 8;
const timeDigits = 18;
const number = '0'.repeat(numberDigits);
const time = '0'.repeat(timeDigits);

/** All `response.audio.delta` events are this one, but for the digits. */
const event = Buffer.from(
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
const numberAt = event.indexOf(number);
const timeAt = numberAt + numberDigits + 1;
const responseAt = event.indexOf('resp_') + 5;
const itemAt = event.indexOf('item_0') + 5;
/** What follows is the same in all. */
const constantAt = itemAt + numberDigits;

/** Bytes of an audio event. */
export const eventBytes: number = event.length;

const frame = serverFrame(textOpcode, event);
const frameHeadBytes = frame.length - event.length;

/** Audio frames as a server sends them, in memory that is used again and again. */
export class AudioFrames {
  readonly #frames: Buffer;

  /** @param most frames at a time */
  constructor(most: number) {
    this.#frames = Buffer.concat(Array.from({ length: most }, () => frame));
  }

  /**
   * Frames numbered from `first`, with the time of now. They must have gone out before the next ones are made.
   *
   * @param response number of the response they belong to
   */
  make(count: number, first: number, response: number): Buffer {
    const now = Number(process.hrtime.bigint());
    for (let index = 0; index < count; index += 1) {
      const at = index * frame.length + frameHeadBytes;
      writeDigits(this.#frames, at + numberAt, numberDigits, first + index);
      writeDigits(this.#frames, at + timeAt, timeDigits, now);
      writeDigits(this.#frames, at + responseAt, numberDigits, response);
      writeDigits(this.#frames, at + itemAt, numberDigits, response);
    }
    return this.#frames.subarray(0, count * frame.length);
  }
}

const zero = 0x30;

// Byte by byte, since a string for each number would cost the stub as much as the sending.
function writeDigits(bytes: Buffer, at: number, count: number, value: number): void {
  let left = value;
  for (let index = at + count - 1; index >= at; index -= 1) {
    const rest = Math.floor(left / 10);
    bytes[index] = zero + (left - rest * 10);
    left = rest;
  }
}

function readDigits(bytes: Buffer, at: number, count: number): number {
  let value = 0;
  for (let index = at; index < at + count; index += 1) value = value * 10 + ((bytes[index] ?? 0) - zero);
  return value;
}

const letterA = 0x61;
const idAt = event.indexOf('audio_');

/** Whether an event of the stub claims to be audio: only then does its id begin with an a. */
export function isAudio(payload: Buffer): boolean {
  return payload[idAt] === letterA;
}

/** Checks an audio event to the last byte. @throws Error when it is not number `expected`, or was changed. */
export function checkAudio(payload: Buffer, expected: number): void {
  const found = readDigits(payload, numberAt, numberDigits);
  if (found !== expected) throw new Error(`audio frame ${found} came where ${expected} was due`);
  if (payload.length !== event.length || payload.compare(event, constantAt, undefined, constantAt) !== 0)
    throw new Error(`audio frame ${found} was changed on its way`);
}

/** How long an audio event took to here, in milliseconds of the monotonic clock that all processes share. */
export function delayOf(payload: Buffer): number {
  return (Number(process.hrtime.bigint()) - readDigits(payload, timeAt, timeDigits)) / 1e6;
}
