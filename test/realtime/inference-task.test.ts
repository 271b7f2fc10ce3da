import { beforeEach, describe, expect, test } from 'vitest';
import type { RunTask } from '../../generated/events.ts';
import { InferenceTask } from '../../server/sockets/inference/task.ts';
import { RecordingLedger } from './recording-ledger.ts';

let ledger: RecordingLedger;
let task: InferenceTask;

const start = (parameters: object = {}) => {
  const run = {
    header: { action: 'run-task', task_id: 't1', streaming: 'duplex' },
    payload: { parameters: { text_type: 'PlainText', voice: 'v1', ...parameters } },
  };
  return new InferenceTask(ledger.connection, 'r1.1', run as unknown as RunTask);
};

beforeEach(() => {
  ledger = new RecordingLedger('voxa-v1');
  task = start();
});

const text = 'First one here. Then the second. And at last the third one.';
const sendText = async (content = text) => {
  expect(await task.reserve(content)).toBe(true);
  task.addSentText(content);
  ledger.takeEntries();
};
const report = (characters: number) => task.recordFrame({ payload: { usage: { characters } } });
const begin = (type: string, original_text: unknown) =>
  task.recordFrame({ payload: { output: { type, original_text } } });
const finish = async () => {
  await task.finish({ channel: 'main', status: 200 });
  return ledger.takeEntries();
};
const settle = async (status = 200) => {
  await task.settle({ channel: 'main', status });
  return ledger.takeEntries();
};

describe('a text', () => {
  const problemOf = (content: string) => task.check(content)?.message;

  test('has at most 20,000 billing characters, and a task 200,000', () => {
    expect(problemOf('x'.repeat(20_001))).toBe(
      'payload.input.text: must have at most 20000 billing characters.',
    );
    task = start();
    for (let count = 0; count < 10; count += 1) expect(problemOf('x'.repeat(20_000))).toBeUndefined();
    expect(problemOf('')).toBeUndefined();
    expect(problemOf('x')).toBe(
      'payload.input.text: must have at most 200000 billing characters in one task.',
    );
  });

  test('of SSML is accepted once, and its tags do not count', () => {
    task = start({ enable_ssml: true });
    expect(problemOf('')).toBeUndefined();
    expect(problemOf(`<speak>${'x'.repeat(20_000)}</speak>`)).toBeUndefined();
    expect(problemOf('')).toBeUndefined();
    expect(problemOf('x')).toBe('payload.input.text: must be sent only once with enable_ssml.');
    task = start({ enable_ssml: false });
    expect([problemOf('a'), problemOf('b')]).toEqual([undefined, undefined]);
  });

  test('of SSML is reserved without its tags', async () => {
    task = start({ enable_ssml: true });
    await task.reserve(`<speak>${'x'.repeat(495)}</speak>`);
    expect(ledger.takeEntries()).toEqual(['r1.1 reserved 500']);
  });

  test('is reserved in steps in addition to the reported usage', async () => {
    const text = 'x'.repeat(250);
    expect([await task.reserve(text), ledger.takeEntries()]).toEqual([true, ['r1.1 reserved 500']]);
    task.addSentText(text);
    report(499);
    await task.reserve('xx');
    report(1_000);
    await task.reserve('xx');
    expect(ledger.takeEntries()).toEqual(['reserved 1000', 'reserved 1500']);
    // A figure above four times the upper bound is not charged.
    report(9_999);
    await task.reserve('xx');
    expect(ledger.takeEntries()).toEqual([]);
  });
});

describe('a task is charged', () => {
  test('the reported usage', async () => {
    await sendText();
    report(16);
    expect(await finish()).toEqual(['charged 16']);
    expect(ledger.operations).toEqual(['openInferenceSocket']);
  });

  test('all its text, if audio was sent without a report', async () => {
    await sendText();
    task.addAudio(1);
    expect(await finish()).toEqual(['charged 59']);
  });

  test('nothing without audio and without a report', async () => {
    await sendText();
    expect(await finish()).toEqual(['refunded']);
  });

  test('only the report, if the audio precedes it', async () => {
    await sendText();
    task.addAudio(1);
    report(16);
    expect(await finish()).toEqual(['charged 16']);
  });

  test('the largest figure, in any order of reports', async () => {
    await sendText();
    report(33);
    report(16);
    expect(await settle()).toEqual(['charged 33']);
  });

  test('a repeated figure, which covers the audio before it', async () => {
    await sendText();
    report(16);
    task.addAudio(1);
    report(16);
    expect(await settle()).toEqual(['charged 16']);
  });

  test('audio sent after a report, unless the provider failed', async () => {
    await sendText();
    report(16);
    task.addAudio(1);
    expect(await settle()).toEqual(['charged 33']);
    task = start();
    await sendText();
    report(16);
    task.addAudio(1);
    expect(await settle(502)).toEqual(['charged 16']);
  });

  test('sentences that the provider named before their audio', async () => {
    await sendText();
    begin('sentence-begin', 'First one here. Then the second. ');
    task.addAudio(1);
    expect(await settle()).toEqual(['charged 33']);
  });

  test.each([
    ['sentence-end', 'First one here. Then the second. '],
    ['sentence-begin', ['First one here. Then ', 'the second. ']],
    ['sentence-begin', undefined],
  ])('the started sentence, if %s names %j', async (type, named) => {
    await sendText();
    begin(type, named);
    task.addAudio(1);
    expect(await settle()).toEqual(['charged 16']);
  });
});
