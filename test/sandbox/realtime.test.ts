import { describe, expect, test } from 'vitest';
import { models } from '../../generated/catalogue.ts';
import { countCharacters } from '../../server/sandbox/billing.ts';
import { wavHeader } from '../../server/sandbox/speech/encoders/wav.ts';
import { brightness, fundamental, inspectMp3, inspectOpus, inspectPcm, level } from './audio-inspection.ts';
import { RealtimeClient, type SpokenResponse } from './realtime-client.ts';
import { useSandbox } from './sandbox-client.ts';

const client = useSandbox();
const flash = 'alpha3-tts-flash-realtime';
const instruct = 'alpha3-tts-instruct-flash-realtime';
const legacy = 'alpha-tts-realtime';
const english = 'The quick brown fox jumps over the lazy dog.';

const opening = ['response.created', 'response.output_item.added', 'response.content_part.added'];
const ending = [
  'response.audio.done',
  'response.content_part.done',
  'response.output_item.done',
  'response.done',
];

/** Returns the order of the events of a response, with consecutive deltas merged. */
function order({ types }: SpokenResponse): string[] {
  return types.filter((type, index) => type !== 'response.audio.delta' || types[index - 1] !== type);
}

async function speak(session: object, texts: string[], model = flash): Promise<SpokenResponse[]> {
  const socket = new RealtimeClient(client.sandbox, model);
  await socket.configure({ voice: 'Aria', ...session });
  const responses = await socket.speakAll(...texts);
  expect(await socket.closed).toEqual({ code: 1000, reason: '' });
  return responses;
}

async function say(session: object, text = english, model = flash) {
  const [response] = await speak(session, [text], model);
  return inspectPcm(response?.audio ?? Buffer.alloc(0), 24000);
}

describe('mode server_commit', () => {
  test('synthesizes complete sentences and the rest at the end, with exact events and usage', async () => {
    const socket = new RealtimeClient(client.sandbox, flash);
    const created = await socket.expect('session.created');
    expect(created.session).toEqual({
      id: expect.stringMatching(/^sess_/),
      object: 'realtime.session',
      model: flash,
      mode: 'server_commit',
      voice: 'Aria',
      response_format: 'pcm',
      sample_rate: 24000,
    });
    socket.emit('session.update', { session: { voice: 'Mei', language_type: 'English' } });
    const updated = await socket.expect('session.updated');
    expect(updated.session).toEqual({ ...created.session, voice: 'Mei', language_type: 'English' });

    socket.append('Good ');
    socket.append('day.');
    const first = await socket.response();
    socket.append(' 你好');
    socket.append('！ And');
    const second = await socket.response();
    socket.append(' bye');
    socket.emit('session.finish');
    const third = await socket.response();
    await socket.expect('session.finished');
    expect(await socket.closed).toEqual({ code: 1000, reason: '' });

    for (const response of [first, second, third]) {
      expect(order(response)).toEqual([...opening, 'response.audio.delta', ...ending]);
      expect(response.done).toMatchObject({
        status: 'completed',
        voice: 'Mei',
        modalities: ['text', 'audio'],
      });
      const audio = inspectPcm(response.audio, 24000);
      expect(audio.seconds).toBeGreaterThan(0.3);
      expect(level(audio.samples)).toBeGreaterThan(0.02);
    }
    const usages = [first, second, third].map(({ done }) => done.usage);
    expect(usages).toEqual([{ characters: 9 }, { characters: 16 }, { characters: 23 }]);
  });

  test('the ids are consistent within a response and differ between responses', async () => {
    const [first, second] = await speak({}, ['One.', ' Two.']);
    const ids = [first, second].map((response) => {
      const events = response?.events ?? [];
      expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(events.length);
      const found = events.flatMap((event) => ('response_id' in event ? [event.response_id] : []));
      const items = events.flatMap((event) => ('item_id' in event ? [event.item_id] : []));
      expect([new Set(found).size, new Set(items).size]).toEqual([1, 1]);
      expect(response?.done.id).toBe(found[0]);
      expect(response?.done.output).toEqual([
        {
          id: items[0],
          object: 'realtime.item',
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'audio', transcript: '' }],
        },
      ]);
      return found[0];
    });
    expect(ids[0]).not.toBe(ids[1]);
  });

  test('bills the same characters for any chunks of the text', async () => {
    const text = 'Dr. Li paid 3.50 euros. 今天很好！"Really?" Yes… [fine] \u{1f600}';
    const pieces = [[text], Array.from(text), text.match(/.{1,7}/gsu) ?? []];
    for (const responses of await Promise.all(pieces.map((texts) => speak({}, texts)))) {
      expect(responses.at(-1)?.done.usage).toEqual({ characters: countCharacters(text) });
    }
  });

  test('commit synthesizes the buffered text', async () => {
    const socket = new RealtimeClient(client.sandbox, flash);
    await socket.configure({ voice: 'Aria' });
    socket.append('No end yet');
    socket.emit('input_text_buffer.commit');
    await socket.expect('input_text_buffer.committed');
    expect((await socket.response()).done.usage).toEqual({ characters: 10 });
    socket.socket.close();
  });

  test('blank text at the end is neither spoken nor billed', async () => {
    const responses = await speak({}, ['Hello.', ' \n ']);
    expect(responses.map(({ done }) => done.usage)).toEqual([{ characters: 6 }]);
    expect(await speak({}, [])).toEqual([]);
  });
});

describe('mode commit', () => {
  test('waits for each commit, and clear empties the buffer', async () => {
    const socket = new RealtimeClient(client.sandbox, flash);
    await socket.configure({ voice: 'Bruno', mode: 'commit' });
    socket.append('Not this. ');
    socket.emit('input_text_buffer.clear');
    await socket.expect('input_text_buffer.cleared');
    socket.append('One sentence. ');
    socket.append('And another.');
    await socket.roundTrip();
    expect(socket.pendingFrames).toBe(0);
    socket.emit('input_text_buffer.commit');
    expect(await socket.expect('input_text_buffer.committed')).toMatchObject({ item_id: '' });
    const response = await socket.response();
    expect(response.done.usage).toEqual({ characters: 26 });
    expect(inspectPcm(response.audio, 24000).seconds).toBeGreaterThan(1.2);
    const [rest] = await socket.speakAll('Left over');
    expect(rest?.done.usage).toEqual({ characters: 35 });
  });
});

describe('response.cancel', () => {
  test('ends the running response as incomplete, bills its audio, and starts the next one', async () => {
    const socket = new RealtimeClient(client.sandbox, flash);
    await socket.configure({ voice: 'Aria' });
    socket.append('One short sentence to speak. '.repeat(40));
    socket.append('The next one.');
    await socket.until('response.audio.delta');
    socket.emit('response.cancel');
    const rest = await socket.until('response.done');
    expect(rest.map(({ type }) => type).filter((type) => type !== 'response.audio.delta')).toEqual(ending);
    const done = rest.at(-1);
    if (done?.type !== 'response.done') throw new Error('No response.done');
    expect(done.response).toMatchObject({ status: 'incomplete', output: [{ status: 'incomplete' }] });
    const { characters } = done.response.usage as { characters: number };
    expect(characters % 29).toBe(0);
    expect(characters).toBeGreaterThan(0);
    expect(characters).toBeLessThan(29 * 40);
    const next = await socket.response();
    expect(next.done).toMatchObject({ status: 'completed', usage: { characters: characters + 13 } });
    socket.socket.close();
  });

  test('does nothing without a response', async () => {
    const socket = new RealtimeClient(client.sandbox, flash);
    await socket.configure({ voice: 'Aria' });
    socket.emit('response.cancel');
    expect(await socket.speakAll('Hello.')).toHaveLength(1);
  });
});

describe('legacy models', () => {
  test('report the tokens of each response', async () => {
    const responses = await speak({ voice: 'Clio' }, ['Good day.', ` ${english}`], legacy);
    for (const [index, response] of responses.entries()) {
      const { seconds } = inspectPcm(response.audio, 24000);
      const [input, output] = [[3, 12][index] ?? 0, Math.max(50, Math.ceil(seconds * 50))];
      expect(response.done.usage).toEqual({
        input_tokens: input,
        output_tokens: output,
        total_tokens: input + output,
        input_tokens_details: { text_tokens: input },
        output_tokens_details: { audio_tokens: output, text_tokens: 0 },
      });
    }
    expect(responses).toHaveLength(2);
  });
});

describe('audio', () => {
  test.each([8000, 16000, 24000, 48000])('pcm at %i Hz has the expected duration', async (sample_rate) => {
    const [response] = await speak({ sample_rate }, [english]);
    const audio = inspectPcm(response?.audio ?? Buffer.alloc(0), sample_rate);
    expect(audio.seconds).toBeGreaterThan(2.4);
    expect(audio.seconds).toBeLessThan(3.4);
    expect(fundamental(audio)).toBeGreaterThan(150);
  });

  test('wav, mp3 and opus are one file per response', async () => {
    const session = { sample_rate: 16000 };
    const [plain] = await speak(session, [english]);
    const length = (plain?.audio.length ?? 0) / 32000;
    const formats = await Promise.all(
      ['wav', 'mp3', 'opus'].map((response_format) =>
        speak({ ...session, response_format }, [english, 'More.']),
      ),
    );
    for (const index of [0, 1]) {
      const [wav, mp3, opus] = formats.map((responses) => responses[index]?.audio ?? Buffer.alloc(0));
      expect(wav?.subarray(0, 44)).toEqual(wavHeader(16000, 1, 0xffffffff));
      const inspected = [inspectMp3(mp3 ?? Buffer.alloc(0)), await inspectOpus(opus ?? Buffer.alloc(0))];
      expect(inspected.map(({ sampleRate }) => sampleRate)).toEqual([16000, 16000]);
      const seconds = [((wav?.length ?? 0) - 44) / 32000, ...inspected.map((audio) => audio.seconds)];
      const expected = index === 0 ? length : (seconds[0] ?? 0);
      for (const found of seconds) expect(Math.abs(found - expected)).toBeLessThan(0.15);
    }
  });

  test('bit_rate sets the size of opus', async () => {
    const sizes = await Promise.all(
      [16, 128].map(async (bit_rate) => {
        const [response] = await speak({ response_format: 'opus', bit_rate }, [english]);
        return response?.audio.length ?? 0;
      }),
    );
    expect((sizes[1] ?? 0) / (sizes[0] ?? 1)).toBeGreaterThan(3);
  });

  test('speech_rate, pitch_rate and volume have an effect', async () => {
    const voice = 'Bruno';
    const [plain, fast, high, quiet, silent] = await Promise.all([
      say({ voice }),
      say({ voice, speech_rate: 2 }),
      say({ voice, pitch_rate: 1.6 }),
      say({ voice, volume: 12.5 }),
      say({ voice, volume: 0 }),
    ]);
    expect(fast.seconds / plain.seconds).toBeCloseTo(0.5, 1);
    expect(fundamental(high) / fundamental(plain)).toBeGreaterThan(1.3);
    expect(level(quiet.samples) / level(plain.samples)).toBeCloseTo(0.25, 1);
    expect(level(silent.samples)).toBe(0);
  });

  test('instructions have an effect on instruct models, and a stronger one when optimized', async () => {
    const session = { voice: 'Bruno', instructions: 'Slowly, please.' };
    const [plain, slow, slower, whisper] = await Promise.all([
      say({ voice: 'Bruno' }, english, instruct),
      say(session, english, instruct),
      say({ ...session, optimize_instructions: true }, english, instruct),
      say({ voice: 'Bruno', instructions: 'whisper' }, english, instruct),
    ]);
    expect(slow.seconds / plain.seconds).toBeGreaterThan(1.2);
    expect(slower.seconds / slow.seconds).toBeGreaterThan(1.03);
    expect(brightness(whisper) / brightness(plain)).toBeGreaterThan(1.3);
  });

  test('language_type has an effect', async () => {
    const [english, german] = await Promise.all(
      ['English', 'German'].map((language_type) =>
        say({ voice: 'Bruno', language_type }, 'Radio Internet Taxi'),
      ),
    );
    expect(german?.seconds).not.toBeCloseTo(english?.seconds ?? 0, 2);
  });
});

test('every model with system voices returns audio', async () => {
  const spoken = models.filter(
    ({ protocols, voices }) => protocols.includes('realtime') && voices === 'system',
  );
  expect(spoken.length).toBeGreaterThan(6);
  const answers = await Promise.all(spoken.map(({ id }) => speak({}, ['Hi.'], id)));
  for (const responses of answers) expect(responses[0]?.audio.length).toBeGreaterThan(10_000);
});

test('a session can be updated until synthesis starts, and omitted fields keep their value', async () => {
  const socket = new RealtimeClient(client.sandbox, flash);
  await socket.configure({ voice: 'Aria', sample_rate: 8000, volume: 0 });
  socket.emit('session.update', { session: { voice: 'Bruno' } });
  const { session } = await socket.expect('session.updated');
  expect(session).toMatchObject({ voice: 'Bruno', sample_rate: 8000, volume: 0 });
  const [response] = await socket.speakAll('Hello.');
  expect(level(inspectPcm(response?.audio ?? Buffer.alloc(0), 8000).samples)).toBe(0);
});
