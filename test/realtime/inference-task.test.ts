import { beforeEach, describe, expect, test } from 'vitest';
import type { RunTask } from '../../generated/events.ts';
import { InferenceTask } from '../../server/sockets/inference/task.ts';
import { PaperBooks } from './paper-books.ts';

let paper: PaperBooks;
let task: InferenceTask;

const start = (parameters: object = {}) => {
  const run = {
    header: { action: 'run-task', task_id: 't1', streaming: 'duplex' },
    payload: { parameters: { text_type: 'PlainText', voice: 'v1', ...parameters } },
  };
  return new InferenceTask(paper.connection, 'r1.1', run as unknown as RunTask);
};

beforeEach(() => {
  paper = new PaperBooks('voxa-v1');
  task = start();
});

const text = 'First one here. Then the second. And at last the third one.';
const say = async (said = text) => {
  expect(await task.reserve(said)).toBe(true);
  task.addSentText(said);
  paper.look();
};
const used = (characters: number) => task.recordFrame({ payload: { usage: { characters } } });
const begin = (type: string, original_text: unknown) =>
  task.recordFrame({ payload: { output: { type, original_text } } });
const finish = async () => {
  await task.finish({ channel: 'main', status: 200 });
  return paper.look();
};
const leave = async (status = 200) => {
  await task.settle({ channel: 'main', status });
  return paper.look();
};

describe('a text', () => {
  const told = (given: string) => task.check(given)?.message;

  test('has at most 20,000 billing characters, and all of a task 200,000', () => {
    expect(told('x'.repeat(20_001))).toBe('payload.input.text: must have at most 20000 billing characters.');
    task = start();
    for (let count = 0; count < 10; count += 1) expect(told('x'.repeat(20_000))).toBeUndefined();
    expect(told('')).toBeUndefined();
    expect(told('x')).toBe('payload.input.text: must have at most 200000 billing characters in one task.');
  });

  test('of SSML comes once, and its tags do not count', () => {
    task = start({ enable_ssml: true });
    expect(told('')).toBeUndefined();
    expect(told(`<speak>${'x'.repeat(20_000)}</speak>`)).toBeUndefined();
    expect(told('')).toBeUndefined();
    expect(told('x')).toBe('payload.input.text: must be sent only once with enable_ssml.');
    task = start({ enable_ssml: false });
    expect([told('a'), told('b')]).toEqual([undefined, undefined]);
  });

  test('of SSML is held without its tags', async () => {
    task = start({ enable_ssml: true });
    await task.reserve(`<speak>${'x'.repeat(495)}</speak>`);
    expect(paper.look()).toEqual(['r1.1 holds 500']);
  });

  test('is held in steps, on top of what was reported', async () => {
    const text = 'x'.repeat(250);
    expect([await task.reserve(text), paper.look()]).toEqual([true, ['r1.1 holds 500']]);
    task.addSentText(text);
    used(499);
    await task.reserve('xx');
    used(1_000);
    await task.reserve('xx');
    expect(paper.look()).toEqual(['holds 1000', 'holds 1500']);
    // A figure above four times the upper bound is not charged.
    used(9_999);
    await task.reserve('xx');
    expect(paper.look()).toEqual([]);
  });
});

describe('at its end a task costs', () => {
  test('what was reported', async () => {
    await say();
    used(16);
    expect(await finish()).toEqual(['paid 16']);
    expect(paper.operations).toEqual(['openInferenceSocket']);
  });

  test('all its text, when it spoke and nothing was reported', async () => {
    await say();
    task.addAudio(1);
    expect(await finish()).toEqual(['paid 59']);
  });

  test('nothing, when it did not speak and nothing was reported', async () => {
    await say();
    expect(await finish()).toEqual(['given back']);
  });

  test('no more than was reported, when it spoke before', async () => {
    await say();
    task.addAudio(1);
    used(16);
    expect(await finish()).toEqual(['paid 16']);
  });

  test('the largest figure of all, whatever order they come in', async () => {
    await say();
    used(33);
    used(16);
    expect(await leave()).toEqual(['paid 33']);
  });

  test('the same figure told anew covers what was heard since', async () => {
    await say();
    used(16);
    task.addAudio(1);
    used(16);
    expect(await leave()).toEqual(['paid 16']);
  });

  test('what was heard beyond a report, unless the provider failed over it', async () => {
    await say();
    used(16);
    task.addAudio(1);
    expect(await leave()).toEqual(['paid 33']);
    task = start();
    await say();
    used(16);
    task.addAudio(1);
    expect(await leave(502)).toEqual(['paid 16']);
  });

  test('the sentences that were named before they were heard', async () => {
    await say();
    begin('sentence-begin', 'First one here. Then the second. ');
    task.addAudio(1);
    expect(await leave()).toEqual(['paid 33']);
  });

  test.each([
    ['sentence-end', 'First one here. Then the second. '],
    ['sentence-begin', ['First one here. Then ', 'the second. ']],
    ['sentence-begin', undefined],
  ])('the sentence that has begun, where %s names %j', async (type, named) => {
    await say();
    begin(type, named);
    task.addAudio(1);
    expect(await leave()).toEqual(['paid 16']);
  });
});
