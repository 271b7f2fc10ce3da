import { beforeEach, describe, expect, test } from 'vitest';
import { SessionSettlement } from '../../server/sockets/realtime/settlement.ts';
import { RecordingLedger } from './recording-ledger.ts';

const flash = 'alpha3-tts-flash-realtime';
const legacy = 'alpha-tts-realtime';
let ledger: RecordingLedger;
let settlement: SessionSettlement;

const start = (model: string) => {
  ledger = new RecordingLedger(model);
  settlement = new SessionSettlement(ledger.connection);
};
const sendText = async (text: string) => {
  expect(await settlement.reserve(text)).toBe(true);
  settlement.addSentText(text);
  ledger.takeEntries();
};
const settle = async (status = 200) => {
  await settlement.settle({ channel: 'main', status });
  return ledger.takeEntries();
};
const pcm = { response_format: 'pcm', sample_rate: 24_000 };
/** Base64 characters of that many seconds of PCM. */
const seconds = (count: number, rate = 24_000) => Math.ceil((count * rate * 2 * 4) / 3);

const text = 'First one here. Then the second. And at last the third one.';

describe('a model that reports cumulative usage', () => {
  beforeEach(() => start(flash));
  const report = (characters: number) =>
    settlement.recordResponse({ status: 'completed', usage: { characters } });

  test('reserves in steps in addition to the reported usage', async () => {
    const text = 'x'.repeat(250);
    expect([await settlement.reserve(text), ledger.takeEntries()]).toEqual([true, ['r1 reserved 500']]);
    settlement.addSentText(text);
    report(499);
    await settlement.reserve('xx');
    report(1_000);
    await settlement.reserve('xx');
    expect(ledger.takeEntries()).toEqual(['reserved 1000', 'reserved 1500']);
    // A figure above four times the upper bound is not charged.
    report(9_999);
    await settlement.reserve('xx');
    expect(ledger.takeEntries()).toEqual([]);
  });

  test('counts wide characters twice', async () => {
    await settlement.reserve('か'.repeat(250));
    await settlement.reserve('か'.repeat(251));
    expect(ledger.takeEntries()).toEqual(['r1 reserved 500', 'reserved 1000']);
  });

  test('is charged its largest figure, in any order of reports', async () => {
    await sendText(text);
    report(33);
    report(16);
    expect(await settle()).toEqual(['charged 33']);
    expect(ledger.operations).toEqual(['openRealtimeSocket']);
  });

  test('is charged audio sent after a report, unless the provider failed', async () => {
    for (const [status, charged] of [
      [200, 33],
      [502, 16],
    ] as const) {
      start(flash);
      await sendText(text);
      settlement.beginSynthesis();
      report(16);
      settlement.addAudio(seconds(0.1), pcm);
      expect(await settle(status)).toEqual([`charged ${charged}`]);
    }
  });

  test('is charged audio by its format', async () => {
    for (const [settings, charged] of [
      [{}, 33],
      [{ response_format: 'pcm', sample_rate: 48_000 }, 16],
      [{ response_format: 'pcm', sample_rate: 36_000 }, 16],
    ] as const) {
      start(flash);
      await sendText(text);
      settlement.beginSynthesis();
      // 1.5 s at 24 kHz are 18 characters, 1 s at 36 kHz 12, 0.75 s at 48 kHz 9.
      settlement.addAudio(seconds(1.5), settings);
      expect(await settle()).toEqual([`charged ${charged}`]);
    }
  });

  test('is charged the text of a content part, if it is a string', async () => {
    await sendText(text);
    settlement.beginSynthesis();
    settlement.addAudio(seconds(0.1), pcm);
    settlement.addSpokenText('First one here. Then the second. ');
    expect(await settle()).toEqual(['charged 33']);
    for (const value of ['', 7, undefined, ['First one here. Then ', 'the second. ']]) {
      start(flash);
      await sendText(text);
      settlement.beginSynthesis();
      settlement.addAudio(seconds(0.1), pcm);
      settlement.addSpokenText(value);
      expect(await settle()).toEqual(['charged 16']);
    }
  });

  test('is charged all committed text for a completed response without usage', async () => {
    await sendText(text);
    settlement.beginSynthesis();
    settlement.addAudio(seconds(0.1), pcm);
    settlement.recordResponse({ id: 'r1', status: 'completed' });
    expect(await settle()).toEqual(['charged 59']);
  });

  test('is charged the audio sent for a canceled response without usage', async () => {
    await sendText(text);
    settlement.beginSynthesis();
    settlement.addAudio(seconds(0.1), pcm);
    settlement.recordResponse({ id: 'r1', status: 'cancelled' });
    expect(await settle()).toEqual(['charged 16']);
  });

  test('adds up audio of responses without usage', async () => {
    await sendText(text);
    settlement.beginSynthesis();
    settlement.addAudio(seconds(0.1), pcm);
    settlement.recordResponse({ id: 'r1', status: 'cancelled' });
    settlement.addAudio(seconds(0.1), pcm);
    // The same id, because audio is added up, not responses.
    settlement.recordResponse({ id: 'r1', status: 'cancelled' });
    expect(await settle()).toEqual(['charged 33']);
  });

  test('is charged value for a failed response', async () => {
    await sendText(text);
    settlement.beginSynthesis();
    settlement.addAudio(seconds(0.1), pcm);
    settlement.recordResponse({ id: 'r1', status: 'failed' });
    expect(await settle()).toEqual(['refunded']);
  });

  test('is not charged text that was cleared before its synthesis', async () => {
    await sendText('First one here. ');
    settlement.beginSynthesis();
    await sendText('Then the second. ');
    settlement.clearText();
    settlement.recordResponse({ id: 'r1', status: 'completed' });
    expect(await settle()).toEqual(['charged 16']);
  });

  test('is not charged cleared text, however much audio was sent', async () => {
    await sendText('First one here. ');
    settlement.beginSynthesis();
    await sendText('Then the second. ');
    settlement.clearText();
    settlement.addAudio(seconds(60), pcm);
    expect(await settle()).toEqual(['charged 16']);
  });
});

describe('a model that reports usage of each response', () => {
  beforeEach(() => start(legacy));
  const report = (id: unknown, input_tokens: number, output_tokens: number) =>
    settlement.recordResponse({ id, usage: { input_tokens, output_tokens } });

  test('is charged the sum of the largest figure of each response', async () => {
    await sendText(text);
    report('a', 5, 10);
    report('b', 1, 2);
    report('a', 5, 10);
    report('a', 2, 3);
    report('a', 6, 11);
    expect(await settle()).toEqual(['charged 20']);
  });

  test('counts each report without an id', async () => {
    await sendText(text);
    report(undefined, 1, 2);
    report(undefined, 1, 2);
    report(7, 1, 2);
    report(7, 1, 2);
    expect(await settle()).toEqual(['charged 12']);
  });

  test('is charged a late report in place of its estimate', async () => {
    await sendText(text);
    settlement.beginSynthesis();
    settlement.addAudio(seconds(1), pcm);
    settlement.recordResponse({ id: 'a', status: 'cancelled' });
    report('a', 40, 50);
    report('b', 1, 2);
    expect(await settle()).toEqual(['charged 93']);
  });

  test('is charged the estimate of text and audio once for each response without usage', async () => {
    await sendText(text);
    settlement.beginSynthesis();
    settlement.addAudio(seconds(1), pcm);
    settlement.recordResponse({ id: 'a', status: 'cancelled' });
    const once = await settle();
    start(legacy);
    await sendText(text);
    settlement.beginSynthesis();
    settlement.addAudio(seconds(1), pcm);
    settlement.recordResponse({ id: 'a', status: 'cancelled' });
    // A repeated report without audio in between.
    settlement.recordResponse({ id: 'a', status: 'cancelled' });
    expect(await settle()).toEqual(once);
    expect(once).toEqual([expect.stringMatching(/^charged \d\d$/)]);
  });
});
