import { describe, expect, test } from 'vitest';
import { createClonedTimbre } from '../../server/sandbox/custom-voices/cloned-timbre.ts';
import { analyzeVoice } from '../../server/sandbox/custom-voices/voice-analysis.ts';
import { readWav } from '../../server/sandbox/custom-voices/wav-file.ts';
import { tone, wavFile } from './wave-forms.ts';

describe('analysis', () => {
  test.each([70, 95, 140, 201.5, 280, 400])('finds a fundamental of %f Hz', (fundamental) => {
    const analysis = analyzeVoice(tone(fundamental, 2), 16000);
    expect(Math.abs(analysis.fundamental / fundamental - 1)).toBeLessThan(0.02);
    expect(analysis.voicedSeconds).toBeGreaterThan(1.8);
  });

  test('finds the same at any sample rate, with pauses and noise', () => {
    const samples = new Float32Array(48000 * 3);
    for (let index = 0; index < samples.length; index++) {
      const noise = ((index * 7919) % 1009) / 1009 - 0.5;
      const voiced = index % 48000 < 30000;
      samples[index] = voiced
        ? 0.3 * Math.sin((2 * Math.PI * 150 * index) / 48000) + noise * 0.01
        : noise * 0.001;
    }
    const analysis = analyzeVoice(samples, 48000);
    expect(analysis.fundamental).toBeCloseTo(150, 0);
    expect(analysis.level).toBeCloseTo(0.3 / Math.SQRT2, 1);
    expect(analysis.voicedSeconds).toBeGreaterThan(1.6);
    expect(analysis.voicedSeconds).toBeLessThan(2.1);
  });

  test('distinguishes bright from dark, and detects no voice in silence', () => {
    const [dark, bright] = [0.2, 0.9].map((slope) => analyzeVoice(tone(120, 1, slope), 16000).brightness);
    expect((bright ?? 0) / (dark ?? 1)).toBeGreaterThan(2);
    const nothing = { fundamental: 0, brightness: 0, level: 0, voicedSeconds: 0 };
    expect(analyzeVoice(new Float32Array(16000), 16000)).toEqual(nothing);
    expect(analyzeVoice(new Float32Array(), 16000)).toEqual(nothing);
  });
});

describe('a cloned timbre', () => {
  const derive = (samples: Float32Array, usedSeconds = 10) =>
    createClonedTimbre({ samples, sampleRate: 16000 }, { minSeconds: 3, usedSeconds, field: 'url' });

  test('has different variants for a bright and a dark recording', () => {
    const [dark, bright] = [0.3, 0.95].map((slope) => derive(tone(100, 3, slope)));
    expect(dark?.variant).not.toBe(bright?.variant);
    expect([dark?.whisper, bright?.whisper]).toEqual(['whisper', 'whisper']);
    expect(derive(tone(220, 3)).whisper).toBe('whisperf');
  });

  test('analyzes only the used part', () => {
    const samples = Float32Array.from([...tone(100, 3), ...tone(250, 20)]);
    expect(derive(samples, 3).whisper).toBe('whisper');
    expect(derive(samples, 20).whisper).toBe('whisperf');
  });

  test('stays within the range of the engine', () => {
    for (const fundamental of [61, 440]) {
      const { pitch } = derive(tone(fundamental, 3));
      expect(pitch).toBeGreaterThanOrEqual(0.5);
      expect(pitch).toBeLessThanOrEqual(2);
    }
  });
});

describe('WAV', () => {
  /** Creates a WAV file with an additional chunk before the format chunk. */
  function file(code: number, bits: number, channels: number, data: Buffer, length = data.length): Buffer {
    const header = Buffer.alloc(54);
    header.write('RIFF....WAVEjunk\u0001\0\0\0!\0fmt ', 'latin1');
    header.writeUInt32LE(16, 26);
    header.writeUInt16LE(code, 30);
    header.writeUInt16LE(channels, 32);
    header.writeUInt32LE(16000, 34);
    header.writeUInt16LE(bits, 44);
    header.write('data', 46, 'latin1');
    header.writeUInt32LE(length, 50);
    return Buffer.concat([header, data]);
  }

  test.each<[string, Buffer]>([
    ['8-bit', file(1, 8, 1, Buffer.from([192, 64]))],
    ['16-bit', file(1, 16, 1, Buffer.from('004000c0', 'hex'))],
    ['24-bit', file(1, 24, 1, Buffer.from('0000400000c0', 'hex'))],
    ['32-bit', file(1, 32, 1, Buffer.from('00000040000000c0', 'hex'))],
    ['float', file(3, 32, 1, Buffer.from(Float32Array.of(0.5, -0.5).buffer))],
    ['double', file(3, 64, 1, Buffer.from(Float64Array.of(0.5, -0.5).buffer))],
    ['stereo', file(1, 8, 2, Buffer.from([255, 129, 0, 128]))],
    ['of unknown length', file(1, 16, 1, Buffer.from('004000c0', 'hex'), 0xffffffff)],
  ])('%s', (_kind, bytes) => {
    const { samples, sampleRate } = readWav(bytes, 'url');
    expect(sampleRate).toBe(16000);
    expect(Array.from(samples, (sample) => Math.round(sample * 10) / 10)).toEqual([0.5, -0.5]);
  });

  test.each<[string, Buffer, string]>([
    ['compressed', file(85, 16, 1, Buffer.alloc(4)), 'kind 85'],
    ['without channels', file(1, 16, 0, Buffer.alloc(4)), '0 channels'],
    ['without chunks', Buffer.from('RIFF....WAVE'), 'without a format'],
    ['cut in its header', wavFile(tone(100, 1)).subarray(0, 30), 'without a format'],
    ['Ogg', Buffer.from('OggS............'), 'is Ogg'],
    ['FLAC', Buffer.from('fLaC............'), 'is FLAC'],
    ['MP3 with tags', Buffer.from('ID3.............'), 'is MP3'],
  ])('rejects a file %s', (_kind, bytes, message) => {
    expect(() => readWav(bytes, 'url')).toThrow(message);
  });

  test('an incomplete last sample, and samples that are not numbers', () => {
    expect(readWav(file(1, 16, 1, Buffer.from('004000', 'hex')), 'url').samples).toHaveLength(1);
    const odd = file(3, 32, 1, Buffer.from(Float32Array.of(Number.NaN, 3).buffer));
    expect(Array.from(readWav(odd, 'url').samples)).toEqual([0, 1]);
  });
});
