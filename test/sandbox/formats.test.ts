import { beforeAll, describe, expect, test } from 'vitest';
import { inspectFlac, inspectMp3, inspectOpus, inspectPcm, inspectWav, level } from './audio-inspection.ts';
import { type BetaReply, multimodalPath, synthesizerPath, useSandbox } from './sandbox-client.ts';

const client = useSandbox();
const text = 'A quick test of speech. It has two sentences.';
const floor = 0.02;

function voxa(input: object) {
  return client.speak(synthesizerPath, {
    model: 'voxa-v3-flash',
    input: { text, voice: 'voxanna', ...input },
  });
}

async function beta(audio_setting: object): Promise<{ file: Buffer; reply: BetaReply }> {
  const input = { text, voice_setting: { voice_id: 'beta_female_calm' }, audio_setting };
  const response = await client.post(multimodalPath, { model: 'beta/speech-02-hd', input });
  const reply = (await response.json()) as BetaReply;
  return { reply, file: Buffer.from(reply.output.data?.audio ?? '', 'hex') };
}

describe('formats of the synthesizer route', () => {
  let seconds = 0;
  beforeAll(async () => {
    seconds = inspectWav((await voxa({ format: 'wav' })).file).seconds;
    expect(seconds).toBeGreaterThan(2);
  });

  test.each([8000, 16000, 22050, 24000, 44100, 48000])('wav at %i Hz', async (sample_rate) => {
    const { file, contentType } = await voxa({ format: 'wav', sample_rate });
    const audio = inspectWav(file);
    expect(contentType).toBe('audio/wav');
    expect(audio.sampleRate).toBe(sample_rate);
    expect(audio.seconds).toBeCloseTo(seconds, 1);
    expect(level(audio.samples)).toBeGreaterThan(floor);
  });

  test.each([16000, 44100])('pcm at %i Hz', async (sample_rate) => {
    const { file, contentType } = await voxa({ format: 'pcm', sample_rate });
    const audio = inspectPcm(file, sample_rate);
    expect(contentType).toBe('audio/pcm');
    expect(audio.seconds).toBeCloseTo(seconds, 1);
    expect(level(audio.samples)).toBeGreaterThan(floor);
  });

  test.each([8000, 16000, 22050, 24000, 44100, 48000])('mp3 at %i Hz', async (sample_rate) => {
    const { file, contentType } = await voxa({ format: 'mp3', sample_rate });
    const audio = inspectMp3(file);
    expect(contentType).toBe('audio/mpeg');
    expect(audio.sampleRate).toBe(sample_rate);
    expect(audio.channels).toBe(1);
    expect(Math.abs(audio.seconds - seconds)).toBeLessThan(0.3);
  });

  test('mp3 is loud for speech and silent for volume 0', async () => {
    const [loud, silent] = await Promise.all([voxa({ format: 'mp3' }), voxa({ format: 'mp3', volume: 0 })]);
    expect(inspectMp3(loud.file).busiest).toBeGreaterThan(500);
    expect(inspectMp3(silent.file).busiest).toBe(0);
  });

  test.each([8000, 22050, 24000, 48000])('opus at %i Hz', async (sample_rate) => {
    const { file, contentType } = await voxa({ format: 'opus', sample_rate });
    const audio = await inspectOpus(file);
    expect(contentType).toBe('audio/ogg');
    expect(audio.sampleRate).toBe(sample_rate);
    expect(audio.channels).toBe(1);
    expect(audio.seconds).toBeCloseTo(seconds, 1);
    expect(level(audio.samples)).toBeGreaterThan(floor);
  });

  test.each([6, 510])('opus at %i kbit/s', async (bit_rate) => {
    const { file } = await voxa({ format: 'opus', sample_rate: 48000, bit_rate });
    const { seconds } = await inspectOpus(file);
    const measured = (file.length * 8) / seconds / 1000;
    expect(measured / bit_rate).toBeGreaterThan(0.8);
    expect(measured / bit_rate).toBeLessThan(2);
  });
});

describe('formats of the beta models', () => {
  test('default is mp3 at 32 kHz and 128 kbit/s', async () => {
    const { file, reply } = await beta({});
    const audio = inspectMp3(file);
    expect(audio).toMatchObject({ sampleRate: 32000, channels: 1, kbps: 128 });
    const info = reply.output.extra_info;
    expect(info).toMatchObject({
      audio_sample_rate: 32000,
      audio_format: 'mp3',
      audio_channel: 1,
      bitrate: 128000,
    });
    expect(info?.audio_size).toBe(file.length);
    expect(Math.abs(Number(info?.audio_length) / 1000 - audio.seconds)).toBeLessThan(0.3);
  });

  test.each([
    [16000, 1],
    [44100, 2],
  ])('flac at %i Hz with %i channels', async (sample_rate, channel) => {
    const { file, reply } = await beta({ format: 'flac', sample_rate, channel });
    const audio = inspectFlac(file);
    expect(audio).toMatchObject({ sampleRate: sample_rate, channels: channel });
    expect(audio.seconds * 1000).toBeCloseTo(Number(reply.output.extra_info?.audio_length), -1);
    expect(level(audio.samples)).toBeGreaterThan(floor);
  });

  test('stereo wav and mp3', async () => {
    const [wav, mp3] = await Promise.all([
      beta({ format: 'wav', channel: 2, sample_rate: 44100 }),
      beta({ channel: 2, bitrate: 256000, sample_rate: 44100 }),
    ]);
    const audio = inspectWav(wav.file);
    expect(audio.channels).toBe(2);
    expect(level(audio.samples)).toBeGreaterThan(floor);
    expect(inspectMp3(mp3.file)).toMatchObject({ channels: 2, kbps: 256, sampleRate: 44100 });
  });
});

test('the alpha models return WAV at 24 kHz', async () => {
  const { file, contentType } = await client.speak(multimodalPath, {
    model: 'alpha3-tts-flash',
    input: { text, voice: 'Aria' },
  });
  expect(contentType).toBe('audio/wav');
  expect(inspectWav(file)).toMatchObject({ sampleRate: 24000, channels: 1 });
});
