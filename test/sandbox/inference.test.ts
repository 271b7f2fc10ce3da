import { describe, expect, test } from 'vitest';
import { models } from '../../generated/catalogue.ts';
import { countCharacters } from '../../server/sandbox/billing.ts';
import { wavHeader } from '../../server/sandbox/speech/encoders/wav.ts';
import { brightness, fundamental, inspectMp3, inspectOpus, inspectPcm, level } from './audio-inspection.ts';
import { InferenceClient, type SpokenTask } from './inference-client.ts';
import { type NativeWord, useSandbox } from './sandbox-client.ts';

const client = useSandbox();
const english = 'The quick brown fox jumps over the lazy dog.';
const pcm = { format: 'pcm', sample_rate: 24000 };

let tasks = 0;
/** Creates a task id, alternately with and without dashes. */
function taskId(): string {
  const id = crypto.randomUUID();
  return tasks++ % 2 === 0 ? id : id.replaceAll('-', '');
}

async function speak(parameters: object, texts: string[], more: object = {}): Promise<SpokenTask> {
  const socket = new InferenceClient(client.sandbox);
  const task = await socket.speak(taskId(), parameters, texts, more);
  socket.socket.close();
  return task;
}

async function say(parameters: object, text = english) {
  return inspectPcm((await speak({ ...pcm, ...parameters }, [text])).audio, 24000);
}

/** Returns the order of the frames of a task, with consecutive pairs of synthesis and audio merged. */
function order({ names }: SpokenTask): string[] {
  const pairs = names.join(' ').replaceAll('sentence-synthesis audio', 'pair').split(' ');
  return pairs.filter((name, index) => name !== 'pair' || pairs[index - 1] !== name);
}

function results(task: SpokenTask) {
  return task.events.flatMap(({ header, payload }) =>
    header.event === 'result-generated' && 'output' in payload
      ? [{ usage: payload.usage as object | undefined, ...(payload.output as SentenceOutput) }]
      : [],
  );
}

interface SentenceOutput {
  type: string;
  original_text?: string;
  sentence: { index: number; words: NativeWord[] };
}

const sentenceOrder = ['sentence-begin', 'pair', 'sentence-end'];

describe('one task', () => {
  test('sends each sentence as begin, pairs of synthesis and audio, and end with cumulative usage', async () => {
    const socket = await new InferenceClient(client.sandbox).opened();
    const id = taskId();
    socket.run(id, pcm);
    const [started] = (await socket.until('task-started')).events;
    expect(started).toEqual({ header: { task_id: id, event: 'task-started', attributes: {} }, payload: {} });
    socket.continue(id, 'Good ');
    socket.continue(id, 'day. 你');
    const first = await socket.until('sentence-end');
    socket.continue(id, '好！ And');
    const second = await socket.until('sentence-end');
    socket.finish(id);
    const rest = await socket.until('task-finished');

    expect([order(first), order(second)]).toEqual([sentenceOrder, sentenceOrder]);
    expect(order(rest)).toEqual([...sentenceOrder, 'task-finished']);
    const sentences = [first, second, rest].map((part, index) => {
      const outputs = results(part);
      expect(outputs.every(({ sentence }) => sentence.index === index && sentence.words.length === 0)).toBe(
        true,
      );
      const texts = outputs.map(({ original_text }) => original_text);
      expect(texts).toEqual([texts[0], ...Array(texts.length - 2).fill(undefined), texts[0]]);
      expect(outputs.slice(0, -1).every(({ usage }) => usage === undefined)).toBe(true);
      expect(inspectPcm(part.audio, 24000).seconds).toBeGreaterThan(0.3);
      return [texts[0], outputs.at(-1)?.usage];
    });
    expect(sentences).toEqual([
      ['Good day. ', { characters: 10 }],
      ['你好！ ', { characters: 16 }],
      ['And', { characters: 19 }],
    ]);
    expect(rest.last).toEqual({
      header: { task_id: id, event: 'task-finished', attributes: { request_uuid: expect.any(String) } },
      payload: { output: {}, usage: { characters: 19 } },
    });
    socket.socket.close();
  });

  test('bills the same characters for any chunks of the text', async () => {
    const text = 'Dr. Li paid 3.50 euros. 今天很好！"Really?" Yes… [fine] \u{1f600}';
    for (const texts of [[text], Array.from(text), text.match(/.{1,7}/gsu) ?? []]) {
      const task = await speak(pcm, texts);
      const spoken = results(task).filter(({ type }) => type === 'sentence-end');
      expect(spoken.map(({ original_text }) => original_text).join('')).toBe(text);
      expect(task.last.payload).toMatchObject({ usage: { characters: countCharacters(text) } });
    }
  });

  test('flush synthesizes the buffered text', async () => {
    const socket = await new InferenceClient(client.sandbox).opened();
    const id = taskId();
    socket.run(id, pcm);
    socket.act('continue-task', id, { input: { text: 'No end yet', flush: true } });
    await socket.until('task-started');
    expect(order(await socket.until('sentence-end'))).toEqual(sentenceOrder);
    socket.act('continue-task', id, { input: { flush: true } });
    socket.finish(id);
    expect((await socket.until('task-finished')).names).toEqual(['task-finished']);
    socket.socket.close();
  });

  test('without text the task finishes immediately and costs nothing', async () => {
    const task = await speak(pcm, []);
    expect(task.names).toEqual(['task-finished']);
    expect(task.last.payload).toEqual({ output: {}, usage: { characters: 0 } });
    expect((await speak(pcm, [' \n '])).names).toEqual(['task-finished']);
  });

  test('encoder output after the last sentence is sent as a sentence without text', async () => {
    const socket = await new InferenceClient(client.sandbox).opened();
    const id = taskId();
    socket.run(id, { format: 'opus', sample_rate: 16000 });
    socket.continue(id, english);
    const spoken = await socket.until('sentence-end');
    socket.finish(id);
    const rest = await socket.until('task-finished');
    expect(order(rest)).toEqual([...sentenceOrder, 'task-finished']);
    expect(results(rest).at(0)).toMatchObject({ original_text: '', sentence: { index: 1 } });
    expect(rest.last.payload).toMatchObject({ usage: { characters: 44 } });
    expect((await inspectOpus(Buffer.concat([spoken.audio, rest.audio]))).seconds).toBeGreaterThan(2.4);
    socket.socket.close();
  });

  test('words have positions and times', async () => {
    const task = await speak({ ...pcm, word_timestamp_enabled: true }, ['Hello there. ', 'This is the end.']);
    const words = results(task).flatMap(({ type, sentence }) => {
      if (type !== 'sentence-synthesis') expect(sentence.words).toEqual([]);
      return sentence.words.map((word) => ({ ...word, index: sentence.index }));
    });
    expect(words.map(({ text }) => text)).toEqual(['Hello', 'there', 'This', 'is', 'the', 'end']);
    let time = 0;
    for (const word of words) {
      const text = ['Hello there. ', 'This is the end.'][word.index];
      expect(text?.slice(word.begin_index, word.end_index)).toBe(word.text);
      expect(word.begin_time).toBeGreaterThanOrEqual(time);
      expect(word.end_time).toBeGreaterThan(word.begin_time);
      time = word.end_time;
    }
    const { seconds } = inspectPcm(task.audio, 24000);
    expect(time / 1000).toBeGreaterThan(seconds - 0.5);
    expect(time / 1000).toBeLessThan(seconds);
  });

  test('SSML tags are neither spoken nor billed', async () => {
    const [plain, ssml] = await Promise.all([
      speak(pcm, [english]),
      speak({ ...pcm, enable_ssml: true }, [`<speak rate="1"><s>${english}</s></speak>`]),
    ]);
    expect(ssml.last.payload).toMatchObject({ usage: { characters: 44 } });
    expect(ssml.audio.length / plain.audio.length).toBeCloseTo(1, 1);
  });

  test('alpha-audio-3.1 is metered in tokens', async () => {
    const task = await speak({ ...pcm, voice: 'flint' }, [english], { model: 'alpha-audio-3.1-tts-flash' });
    const { seconds } = inspectPcm(task.audio, 24000);
    const usage = { input_tokens: 11, output_tokens: Math.ceil(seconds * 50) };
    expect(task.last.payload).toEqual({ output: {}, usage });
  });
});

describe('one socket', () => {
  test('runs consecutive tasks, each with its own usage and audio file', async () => {
    const socket = await new InferenceClient(client.sandbox).opened();
    const wav = { format: 'wav', sample_rate: 8000 };
    const first = await socket.speak(taskId(), wav, ['Good day.']);
    const second = await socket.speak(taskId(), { ...wav, voice: 'flint' }, ['Go well.'], {
      model: 'alpha-audio-3.0-tts-plus',
    });
    for (const [task, characters] of [
      [first, 9],
      [second, 8],
    ] as const) {
      expect(task.last.payload).toMatchObject({ usage: { characters } });
      expect(results(task)[0]?.sentence.index).toBe(0);
      expect(task.audio.subarray(0, 44)).toEqual(wavHeader(8000, 1, 0xffffffff));
    }
    socket.socket.close();
  });

  test('ignores the query, because the task contains the model', async () => {
    const socket = new InferenceClient(client.sandbox, '?model=voxa-v2&other=1');
    const task = await socket.speak(taskId(), pcm, ['Hi.'], { model: 'voxa-v1' });
    expect(task.audio.length).toBeGreaterThan(10_000);
    socket.socket.close();
  });
});

describe('audio', () => {
  test('is mp3 at 22050 Hz by default', async () => {
    const { audio } = await speak({}, ['One. ', 'Two.']);
    const { sampleRate, seconds, busiest } = inspectMp3(audio);
    expect(sampleRate).toBe(22050);
    expect(seconds).toBeGreaterThan(0.8);
    expect(busiest).toBeGreaterThan(100);
  });

  test.each([8000, 16000, 22050, 24000, 44100, 48000])(
    'all formats at %i Hz have the same duration',
    async (sample_rate) => {
      const text = ['Hello there.'];
      const [raw, wav, mp3, opus] = await Promise.all(
        ['pcm', 'wav', 'mp3', 'opus'].map((format) => speak({ format, sample_rate }, text)),
      );
      if (!raw || !wav || !mp3 || !opus) throw new Error('no audio');
      const { seconds } = inspectPcm(raw.audio, sample_rate);
      expect(wav.audio.subarray(0, 44)).toEqual(wavHeader(sample_rate, 1, 0xffffffff));
      const inFile = inspectPcm(wav.audio.subarray(44), sample_rate);
      // The length of the engine's output varies by a few samples.
      expect(Math.abs(inFile.seconds - seconds)).toBeLessThan(0.02);
      expect(Math.abs(inspectMp3(mp3.audio).seconds - seconds)).toBeLessThan(0.25);
      const decoded = await inspectOpus(opus.audio);
      expect(Math.abs(decoded.seconds - seconds)).toBeLessThan(0.05);
      expect(decoded.sampleRate).toBe(sample_rate);
    },
  );

  test('rate, pitch, volume and bit_rate have an effect, including zero', async () => {
    const voice = 'voxton';
    const [plain, fast, high, silent] = await Promise.all([
      say({ voice }),
      say({ voice, rate: 2 }),
      say({ voice, pitch: 1.6 }),
      say({ voice, volume: 0 }),
    ]);
    expect(fast.seconds / plain.seconds).toBeCloseTo(0.5, 1);
    expect(fundamental(high) / fundamental(plain)).toBeGreaterThan(1.3);
    expect(level(plain.samples)).toBeGreaterThan(0.04);
    expect(level(silent.samples)).toBe(0);
    const sizes = await Promise.all(
      [16, 128].map(async (bit_rate) => (await speak({ format: 'opus', bit_rate }, [english])).audio.length),
    );
    expect((sizes[1] ?? 0) / (sizes[0] ?? 1)).toBeGreaterThan(3);
  });

  test('instruction, language_hints and the markdown filter have an effect', async () => {
    const text = 'Radio Internet **Taxi**';
    const [plain, whisper, german, filtered] = await Promise.all([
      say({}, text),
      say({ instruction: 'whisper' }, text),
      say({ language_hints: ['de', 'xx'] }, text),
      say({ enable_markdown_filter: true }, text),
    ]);
    expect(brightness(whisper) / brightness(plain)).toBeGreaterThan(1.2);
    expect(german.seconds).not.toBeCloseTo(plain.seconds, 2);
    expect(filtered.seconds).toBeLessThan(plain.seconds);
  });
});

test('every model returns audio and ignores unknown parameters', async () => {
  const served = models.filter(({ protocols }) => protocols.includes('inference'));
  expect(served.length).toBeGreaterThan(8);
  const socket = await new InferenceClient(client.sandbox).opened();
  for (const { id, family } of served) {
    const parameters = {
      ...pcm,
      voice: family === 'voxa' ? 'voxling' : 'lan',
      seed: 0,
      hot_fix: { replace: [] },
      enable_aigc_tag: false,
      unknown: { a: [1] },
    };
    expect(
      (await socket.speak(taskId(), parameters, ['Hi.'], { model: id })).audio.length,
      id,
    ).toBeGreaterThan(0);
  }
  socket.socket.close();
});
