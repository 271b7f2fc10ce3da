import { describe, expect, test } from 'vitest';
import { inspectMp3, inspectPcm, inspectWav, level } from './audio-inspection.ts';
import {
  type BetaReply,
  multimodalPath,
  type NativeReply,
  parseEvents,
  synthesizerPath,
  useSandbox,
} from './sandbox-client.ts';

const client = useSandbox();
const text = '你好，世界。Hello there! This is the end.';
const sentences = ['你好，世界。', 'Hello there! ', 'This is the end.'];
const counts = [10, 23, 39];

function audioOf(events: readonly NativeReply[]): Buffer {
  return Buffer.concat(events.map(({ output }) => Buffer.from(output.audio.data, 'base64')));
}

async function download(url: string): Promise<Buffer> {
  return Buffer.from(await (await fetch(url)).arrayBuffer());
}

describe('line layout', () => {
  test('is byte-exact', async () => {
    const body = { model: 'voxa-v2', input: { text: 'Hi.', voice: 'voxton', format: 'pcm' } };
    const response = await client.post(synthesizerPath, body, { events: true });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const lines = (await response.text()).split('\n');
    const data = JSON.parse(lines[3]?.slice('data:'.length) ?? '') as NativeReply;
    const { request_id } = data;
    const audio = { data: '', id: `audio_${request_id}`, expires_at: data.output.audio.expires_at };
    const begin = {
      request_id,
      output: {
        finish_reason: 'null',
        type: 'sentence-begin',
        original_text: 'Hi.',
        sentence: { index: 0, words: [] },
        audio,
      },
    };
    expect(lines.slice(0, 7)).toEqual([
      'id:1',
      'event:result',
      ':HTTP_STATUS/200',
      `data:${JSON.stringify(begin)}`,
      '',
      'id:2',
      'event:result',
    ]);
    expect(response.headers.get('x-request-id')).toBe(request_id);
  });

  test('counts events from 1', async () => {
    const body = { model: 'alpha-tts', input: { text, voice: 'Mei' } };
    const events = parseEvents(await (await client.post(multimodalPath, body, { events: true })).text());
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1));
    expect(new Set(events.map(({ event, status }) => `${event} ${status}`))).toEqual(new Set(['result 200']));
  });
});

describe('synthesizer route', () => {
  const input = { text, voice: 'voxling', format: 'wav', word_timestamp_enabled: true };

  test('sends each sentence as begin, synthesis and end, then the URL', async () => {
    const events = await client.stream(synthesizerPath, { model: 'voxa-v3-plus', input });
    const last = events.at(-1);
    const running = events.slice(0, -1);
    expect(running.every(({ output }) => output.finish_reason === 'null')).toBe(true);
    for (const [index, sentence] of sentences.entries()) {
      const own = running.filter(({ output }) => output.sentence?.index === index);
      const types = own.map(({ output }) => output.type);
      expect(types.at(0)).toBe('sentence-begin');
      expect(types.at(-1)).toBe('sentence-end');
      expect(new Set(types.slice(1, -1))).toEqual(new Set(['sentence-synthesis']));
      expect(types.length).toBeGreaterThan(3);
      const texts = own.map(({ output }) => output.original_text);
      expect(texts).toEqual([sentence, ...Array(types.length - 2).fill(undefined), sentence]);
      expect(own.at(-1)?.usage).toEqual({ characters: counts[index] });
      expect(own.slice(0, -1).every(({ usage }) => usage === undefined)).toBe(true);
    }
    expect(last?.output).toMatchObject({ finish_reason: 'stop', audio: { data: '' } });
    expect(last?.usage).toEqual({ characters: 39 });
    expect(await download(last?.output.audio.url ?? '')).toHaveLength(audioOf(running).length);
  });

  test('the chunks together are the file, except for the lengths in its header', async () => {
    const events = await client.stream(synthesizerPath, { model: 'voxa-v3-plus', input });
    const streamed = audioOf(events);
    const file = await download(events.at(-1)?.output.audio.url ?? '');
    expect(streamed.readUInt32LE(40)).toBe(0xffffffff);
    expect(inspectWav(file).seconds).toBeGreaterThan(3);
    expect(streamed.subarray(44).equals(file.subarray(44))).toBe(true);
  });

  test('concatenated mp3 chunks are a valid stream', async () => {
    const events = await client.stream(synthesizerPath, {
      model: 'alpha-audio-3.0-tts-flash',
      input: { text, voice: 'ember' },
    });
    expect(inspectMp3(audioOf(events)).seconds).toBeGreaterThan(3);
  });

  test('words have positions and times', async () => {
    const events = await client.stream(synthesizerPath, { model: 'voxa-v3-plus', input });
    const words = events.flatMap(({ output }) =>
      (output.sentence?.words ?? []).map((word) => ({ ...word, index: output.sentence?.index ?? 0 })),
    );
    const english = words.filter(({ index }) => index > 0).map((word) => word.text);
    expect(english).toEqual(['Hello', 'there', 'This', 'is', 'the', 'end']);
    expect(
      words
        .filter(({ index }) => index === 0)
        .map((word) => word.text)
        .join(''),
    ).toBe('你好世界');
    let time = 0;
    for (const word of words) {
      expect(sentences[word.index]?.slice(word.begin_index, word.end_index)).toBe(word.text);
      expect(word.begin_time).toBeGreaterThanOrEqual(time);
      expect(word.end_time).toBeGreaterThan(word.begin_time);
      time = word.end_time;
    }
    const { seconds } = inspectWav(await download(events.at(-1)?.output.audio.url ?? ''));
    expect(time / 1000).toBeLessThan(seconds);
    expect(time / 1000).toBeGreaterThan(seconds - 0.5);
  });

  test('omits the words by default', async () => {
    const events = await client.stream(synthesizerPath, {
      model: 'voxa-v3-plus',
      input: { ...input, word_timestamp_enabled: false },
    });
    expect(events.flatMap(({ output }) => output.sentence?.words ?? [])).toEqual([]);
  });

  test('meters alpha-audio-3.1 in tokens', async () => {
    const events = await client.stream(synthesizerPath, {
      model: 'alpha-audio-3.1-tts-flash',
      input: { text, voice: 'lan', format: 'pcm', sample_rate: 24000 },
    });
    const { seconds } = inspectPcm(audioOf(events), 24000);
    const usage = events.at(-1)?.usage;
    expect(usage).toEqual({
      input_tokens: Math.ceil(Buffer.byteLength(text) / 4),
      output_tokens: expect.any(Number),
    });
    expect(Math.abs(Number(usage?.output_tokens) - seconds * 50)).toBeLessThanOrEqual(1);
  });
});

describe('multimodal route', () => {
  test('alpha3: PCM at 24 kHz, then the whole WAV and characters', async () => {
    const events = await client.stream(multimodalPath, {
      model: 'alpha3-tts-flash',
      input: { text, voice: 'Wei' },
    });
    const running = events.slice(0, -1);
    for (const { output, usage } of running) {
      expect(output).toMatchObject({ finish_reason: 'null', audio: { url: '' } });
      expect(usage).toBeUndefined();
    }
    const last = events.at(-1);
    expect(last?.output).toMatchObject({ finish_reason: 'stop', audio: { data: '' } });
    expect(last?.usage).toEqual({ characters: 39, input_tokens: 0, output_tokens: 0 });
    const file = await download(last?.output.audio.url ?? '');
    expect(inspectWav(file).sampleRate).toBe(24000);
    expect(audioOf(running).equals(file.subarray(44))).toBe(true);
  });

  test('legacy: tokens', async () => {
    const { reply, file } = await client.speak(multimodalPath, {
      model: 'alpha-tts-latest',
      input: { text, voice: 'Wei' },
    });
    const [input, output] = [
      Math.ceil(Buffer.byteLength(text) / 4),
      Math.ceil(inspectWav(file).seconds * 50),
    ];
    expect(reply.usage).toEqual({
      input_tokens: input,
      output_tokens: output,
      total_tokens: input + output,
      input_tokens_details: { text_tokens: input },
      output_tokens_details: { audio_tokens: output, text_tokens: 0 },
      characters: 0,
    });
  });

  test('legacy: at least 50 audio tokens', async () => {
    const { reply } = await client.speak(multimodalPath, {
      model: 'alpha-tts',
      input: { text: 'Oh', voice: 'Aria' },
    });
    expect(reply.usage.output_tokens).toBe(50);
  });
});

describe('beta models', () => {
  const input = { text, voice_setting: { voice_id: 'beta_male_mandarin' }, audio_setting: { format: 'pcm' } };
  const model = 'beta/speech-2.8-turbo';
  const bytes = (events: readonly BetaReply[]) =>
    Buffer.concat(events.map(({ output }) => Buffer.from(output.data?.audio ?? '', 'hex')));

  test('the last event repeats the whole audio', async () => {
    const events = await client.stream<BetaReply>(multimodalPath, { model, input });
    const statuses = events.map(({ output }) => output.data?.status);
    expect(statuses).toEqual([...Array(events.length - 1).fill(1), 2]);
    expect(bytes(events.slice(-1)).equals(bytes(events.slice(0, -1)))).toBe(true);
    expect(level(inspectPcm(bytes(events.slice(-1)), 32000).samples)).toBeGreaterThan(0.02);
    expect(events.at(-1)?.usage).toEqual({ characters: 39 });
  });

  test('the last event has no audio if it is excluded', async () => {
    const stream_options = { exclude_aggregated_audio: true };
    const events = await client.stream<BetaReply>(multimodalPath, {
      model,
      input: { ...input, stream_options },
    });
    expect(events.at(-1)?.output.data).toEqual({ audio: '', status: 2 });
    expect(bytes(events).length).toBe(events.at(-1)?.output.extra_info?.audio_size);
  });

  test('returns all fields without streaming, with a URL and subtitles if requested', async () => {
    const response = await client.post(multimodalPath, {
      model,
      input: { ...input, audio_setting: {}, output_format: 'url', subtitle_enable: true },
    });
    const { request_id, output, usage } = (await response.json()) as BetaReply;
    expect(request_id).toBe(response.headers.get('x-request-id'));
    expect(output.base_resp).toEqual({ status_code: 0, status_msg: 'success' });
    expect(output.extra_info).toEqual({
      audio_length: expect.any(Number),
      audio_sample_rate: 32000,
      audio_size: expect.any(Number),
      audio_format: 'mp3',
      audio_channel: 1,
      bitrate: 128000,
      word_count: 8,
      usage_characters: 39,
      invisible_character_ratio: 0,
    });
    expect(output.trace_id).toMatch(/^[0-9a-f]{32}$/);
    expect(usage).toEqual({ characters: 39 });
    expect(inspectMp3(await download(output.data?.audio ?? '')).sampleRate).toBe(32000);
    const subtitles = JSON.parse((await download(output.data?.subtitle_file ?? '')).toString()) as {
      text: string;
    }[];
    expect(subtitles.map((subtitle) => subtitle.text)).toEqual(sentences);
  });
});

test('the first audio arrives before a long text has been spoken', async () => {
  const long = 'One more sentence to speak. '.repeat(600);
  const leave = new AbortController();
  const body = {
    model: 'voxa-v2',
    input: { text: long, voice: 'voxanna', format: 'pcm', sample_rate: 48000 },
  };
  const response = await client.post(synthesizerPath, body, { events: true, signal: leave.signal });
  const reader = response.body?.getReader();
  const first = Buffer.from((await reader?.read())?.value ?? []).toString();
  expect(first).toContain('"type":"sentence-begin"');
  expect(first).not.toContain('"finish_reason":"stop"');
  leave.abort();
  await expect(reader?.read()).rejects.toThrow();
  const { reply } = await client.speak(synthesizerPath, {
    model: 'voxa-v2',
    input: { text, voice: 'voxanna' },
  });
  expect(reply.output.finish_reason).toBe('stop');
});
