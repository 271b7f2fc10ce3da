import { beforeEach, describe, expect, test } from 'vitest';
import { SessionSettlement } from '../../server/sockets/realtime/settlement.ts';
import { PaperBooks } from './paper-books.ts';

const flash = 'alpha3-tts-flash-realtime';
const legacy = 'alpha-tts-realtime';
let paper: PaperBooks;
let books: SessionSettlement;

const start = (model: string) => {
  paper = new PaperBooks(model);
  books = new SessionSettlement(paper.connection);
};
const say = async (text: string) => {
  expect(await books.reserve(text)).toBe(true);
  books.addSentText(text);
  paper.look();
};
const leave = async (status = 200) => {
  await books.settle({ channel: 'main', status });
  return paper.look();
};
const pcm = { response_format: 'pcm', sample_rate: 24_000 };
/** Base64 of so many seconds of that form. */
const seconds = (count: number, rate = 24_000) => Math.ceil((count * rate * 2 * 4) / 3);

const text = 'First one here. Then the second. And at last the third one.';

describe('a model that reports the sum since the start', () => {
  beforeEach(() => start(flash));
  const used = (characters: number) => books.recordResponse({ status: 'completed', usage: { characters } });

  test('holds in steps on top of what was reported', async () => {
    const text = 'x'.repeat(250);
    expect([await books.reserve(text), paper.look()]).toEqual([true, ['r1 holds 500']]);
    books.addSentText(text);
    used(499);
    await books.reserve('xx');
    used(1_000);
    await books.reserve('xx');
    expect(paper.look()).toEqual(['holds 1000', 'holds 1500']);
    // A figure above four times the upper bound is not charged.
    used(9_999);
    await books.reserve('xx');
    expect(paper.look()).toEqual([]);
  });

  test('counts wide characters twice', async () => {
    await books.reserve('か'.repeat(250));
    await books.reserve('か'.repeat(251));
    expect(paper.look()).toEqual(['r1 holds 500', 'holds 1000']);
  });

  test('is paid its largest figure, in whatever order they come', async () => {
    await say(text);
    used(33);
    used(16);
    expect(await leave()).toEqual(['paid 33']);
    expect(paper.operations).toEqual(['openRealtimeSocket']);
  });

  test('is paid what was heard beyond a report, unless it failed over it', async () => {
    for (const [status, paid] of [
      [200, 33],
      [502, 16],
    ] as const) {
      start(flash);
      await say(text);
      books.beginSynthesis();
      used(16);
      books.addAudio(seconds(0.1), pcm);
      expect(await leave(status)).toEqual([`paid ${paid}`]);
    }
  });

  test('is paid for what was heard by its form', async () => {
    for (const [settings, paid] of [
      [{}, 33],
      [{ response_format: 'pcm', sample_rate: 48_000 }, 16],
      [{ response_format: 'pcm', sample_rate: 36_000 }, 16],
    ] as const) {
      start(flash);
      await say(text);
      books.beginSynthesis();
      // 1.5 s at 24 kHz are 18 characters, 1 s at 36 kHz 12, 0.75 s at 48 kHz 9.
      books.addAudio(seconds(1.5), settings);
      expect(await leave()).toEqual([`paid ${paid}`]);
    }
  });

  test('is paid the text that it names, and not what it names otherwise', async () => {
    await say(text);
    books.beginSynthesis();
    books.addAudio(seconds(0.1), pcm);
    books.addSpokenText('First one here. Then the second. ');
    expect(await leave()).toEqual(['paid 33']);
    for (const nothing of ['', 7, undefined, ['First one here. Then ', 'the second. ']]) {
      start(flash);
      await say(text);
      books.beginSynthesis();
      books.addAudio(seconds(0.1), pcm);
      books.addSpokenText(nothing);
      expect(await leave()).toEqual(['paid 16']);
    }
  });

  test('that completes a response without a figure is paid all that it was to speak', async () => {
    await say(text);
    books.beginSynthesis();
    books.addAudio(seconds(0.1), pcm);
    books.recordResponse({ id: 'r1', status: 'completed' });
    expect(await leave()).toEqual(['paid 59']);
  });

  test('that cuts a response short without a figure is paid what was heard', async () => {
    await say(text);
    books.beginSynthesis();
    books.addAudio(seconds(0.1), pcm);
    books.recordResponse({ id: 'r1', status: 'cancelled' });
    expect(await leave()).toEqual(['paid 16']);
  });

  test('adds up what it never reported', async () => {
    await say(text);
    books.beginSynthesis();
    books.addAudio(seconds(0.1), pcm);
    books.recordResponse({ id: 'r1', status: 'cancelled' });
    books.addAudio(seconds(0.1), pcm);
    // The same id: what is added up here are not responses but what was heard.
    books.recordResponse({ id: 'r1', status: 'cancelled' });
    expect(await leave()).toEqual(['paid 33']);
  });

  test('that fails a response is paid nothing for it', async () => {
    await say(text);
    books.beginSynthesis();
    books.addAudio(seconds(0.1), pcm);
    books.recordResponse({ id: 'r1', status: 'failed' });
    expect(await leave()).toEqual(['given back']);
  });

  test('is not paid text that was cleared before it began', async () => {
    await say('First one here. ');
    books.beginSynthesis();
    await say('Then the second. ');
    books.clearText();
    books.recordResponse({ id: 'r1', status: 'completed' });
    expect(await leave()).toEqual(['paid 16']);
  });

  test('is not paid cleared text either, however much it spoke', async () => {
    await say('First one here. ');
    books.beginSynthesis();
    await say('Then the second. ');
    books.clearText();
    books.addAudio(seconds(60), pcm);
    expect(await leave()).toEqual(['paid 16']);
  });
});

describe('a model that reports each response', () => {
  beforeEach(() => start(legacy));
  const used = (id: unknown, input_tokens: number, output_tokens: number) =>
    books.recordResponse({ id, usage: { input_tokens, output_tokens } });

  test('is paid their sum, each at its largest figure', async () => {
    await say(text);
    used('a', 5, 10);
    used('b', 1, 2);
    used('a', 5, 10);
    used('a', 2, 3);
    used('a', 6, 11);
    expect(await leave()).toEqual(['paid 20']);
  });

  test('counts one without an id each time', async () => {
    await say(text);
    used(undefined, 1, 2);
    used(undefined, 1, 2);
    used(7, 1, 2);
    used(7, 1, 2);
    expect(await leave()).toEqual(['paid 12']);
  });

  test('is paid its own figure where what was heard was counted before', async () => {
    await say(text);
    books.beginSynthesis();
    books.addAudio(seconds(1), pcm);
    books.recordResponse({ id: 'a', status: 'cancelled' });
    used('a', 40, 50);
    used('b', 1, 2);
    expect(await leave()).toEqual(['paid 93']);
  });

  test('without a figure is paid once for each response what was heard, by its text and its audio', async () => {
    await say(text);
    books.beginSynthesis();
    books.addAudio(seconds(1), pcm);
    books.recordResponse({ id: 'a', status: 'cancelled' });
    const once = await leave();
    start(legacy);
    await say(text);
    books.beginSynthesis();
    books.addAudio(seconds(1), pcm);
    books.recordResponse({ id: 'a', status: 'cancelled' });
    // Told anew, with nothing heard since.
    books.recordResponse({ id: 'a', status: 'cancelled' });
    expect(await leave()).toEqual(once);
    expect(once).toEqual([expect.stringMatching(/^paid \d\d$/)]);
  });
});
