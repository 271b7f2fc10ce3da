import { describe, expect, test } from 'vitest';
import { AudioInspector } from '../../server/providers/native/audio.ts';

const wave = Buffer.from('RIFF....WAVEfmt and then some samples');

/** Output for a file in chunks of `size` bytes, before and at the end. */
function passed(file: Buffer, size: number, headers: Record<string, string> = {}) {
  const passage = new AudioInspector('mp3', headers);
  const out: Buffer[] = [];
  let last: Buffer | undefined;
  for (let at = 0; at < file.length; at += size) {
    const piece = Buffer.from(file.subarray(at, at + size));
    const taken = passage.write(piece);
    out.push(...taken.parts.map((part) => Buffer.from(part)));
    last = taken.last;
    // Later chunks may reuse the memory.
    piece.fill(0);
  }
  const before = Buffer.concat(out).toString();
  const rest = Buffer.concat([...passage.end(), last ?? Buffer.alloc(0)]).toString();
  return { before, rest, mediaType: passage.mediaType };
}

const lengthOf = (file: Buffer) => ({ 'content-length': String(file.length) });
const noAudio = expect.objectContaining({ status: 502, message: expect.stringContaining('is not audio') });

describe.each([1, 5, 12, 100])('a file in chunks of %i bytes', (size) => {
  test('of known length is forwarded except for its last byte', () => {
    const [before, rest] = [wave.subarray(0, -1).toString(), wave.subarray(-1).toString()];
    expect(passed(wave, size, lengthOf(wave))).toEqual({ before, rest, mediaType: 'audio/wav' });
  });

  test('of unknown length is forwarded', () => {
    expect(passed(wave, size)).toEqual({ before: wave.toString(), rest: '', mediaType: 'audio/wav' });
  });

  test('that is short is also inspected', () => {
    const short = Buffer.from('RIFF');
    expect(passed(short, size, lengthOf(short))).toMatchObject({ before: 'RIF', rest: 'F' });
    expect(passed(short, size)).toEqual({ before: '', rest: 'RIFF', mediaType: 'audio/wav' });
  });

  test.each(['<!doctype html><html>', '{}', ''])('that is not audio is rejected: %j', (text) => {
    const page = Buffer.from(text);
    expect(() => passed(page, size, lengthOf(page))).toThrow(noAudio);
    expect(() => passed(page, size)).toThrow(noAudio);
  });
});
