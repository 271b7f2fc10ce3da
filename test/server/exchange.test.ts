import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Answer, Exchange, type Shared } from '../../server/keys/exchange.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import { TestClock } from '../tasks/test-clock.ts';

interface Item extends Shared {
  name: string;
}

const item = (name: string): Item => ({ name, waiting: [], asked: [] });

let clock: TestClock;
let exchange: Exchange<Item>;
let logged: string[];
let tidied: number[];
/** Each batch that was told, and when. */
let told: { at: number; names: string[]; asked: number }[];
/** How the others answer. */
let others: (batch: readonly Item[]) => Promise<number>;

const answerAll = async (batch: readonly Item[]) => {
  for (const one of batch) for (const answer of one.asked.splice(0)) answer(true);
  return 3;
};

beforeEach(() => {
  clock = new TestClock(0);
  [logged, tidied, told] = [[], [], []];
  others = answerAll;
  const write = (line: string) => void logged.push(line);
  exchange = new Exchange<Item>({
    timers: clock,
    logger: pino({ level: 'error' }, { write }),
    tell: (batch) => {
      const asked = batch.reduce((sum, one) => sum + one.asked.length, 0);
      told.push({ at: clock.monotonic(), names: batch.map(({ name }) => name), asked });
      return others(batch);
    },
    decide: (_, answer) => answer(false),
    tidy: () => void tidied.push(clock.monotonic()),
    tidyEveryMs: 5_000,
  });
  exchange.start();
});
afterEach(() => exchange.stop());

const settled = async () => {
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
};
const pass = (ms: number) => clock.advance(ms, settled);

/** What somebody who asks is answered; undefined: nothing yet. */
function ask(of: Item): { answer: boolean | undefined } {
  const seen: { answer: boolean | undefined } = { answer: undefined };
  void exchange.ask(of).then((answer) => {
    seen.answer = answer;
  });
  return seen;
}

test('changes are told in one batch, each item once, when the first of them is due', async () => {
  await pass(100);
  const [one, two] = [item('one'), item('two')];
  expect([exchange.gateways, exchange.away, exchange.has(one)]).toEqual([undefined, false, false]);
  exchange.plan(one, 250);
  exchange.plan(two, 200);
  exchange.plan(one, 300);
  expect([exchange.has(one), exchange.has(two)]).toEqual([true, true]);
  await pass(199);
  expect(told).toEqual([]);
  await pass(1);
  expect(told).toEqual([{ at: 300, names: ['one', 'two'], asked: 0 }]);
  expect([exchange.gateways, exchange.has(one), exchange.has(two)]).toEqual([3, false, false]);
  await pass(4_000);
  expect(told).toHaveLength(1);
});

test('an item that is being told of is still to be told', async () => {
  const reply = Promise.withResolvers<number>();
  others = () => reply.promise;
  const one = item('one');
  exchange.plan(one, 0);
  await pass(25);
  expect([told.length, exchange.has(one)]).toEqual([1, true]);
  exchange.plan(item('much later'), 60_000);
  reply.resolve(2);
  await pass(2_000);
  // Nobody waits for the other one.
  expect([exchange.has(one), exchange.gateways, exchange.away]).toEqual([false, 2, false]);
});

test('who asks is answered by the next exchange, who comes while it is under way by the one after', async () => {
  const reply = Promise.withResolvers<void>();
  others = async (batch) => {
    await reply.promise;
    return answerAll(batch);
  };
  const one = item('one');
  const first = [ask(one), ask(one)];
  await pass(0);
  const later = ask(one);
  expect(told).toEqual([{ at: 0, names: ['one'], asked: 2 }]);
  reply.resolve();
  await pass(24);
  expect([...first, later].map(({ answer }) => answer)).toEqual([true, true, undefined]);
  await pass(1);
  expect([told.length, later.answer]).toEqual([2, true]);
  // Nobody waits any more, so nothing is decided without the others.
  await pass(2_000);
  expect(exchange.away).toBe(false);
});

test('at most a thousand items are told at a time, the rest as soon as the pause allows', async () => {
  await pass(100);
  const many = Array.from({ length: 1_000 }, (_, index) => item(`${index}`));
  for (const one of [...many, item('last')]) exchange.plan(one, 0);
  await pass(25);
  expect(told.map(({ at, names }) => [at, names.length])).toEqual([
    [100, 1_000],
    [125, 1],
  ]);
});

test('while the store is away everybody is answered without it, and changes are told when it is back', async () => {
  others = () => Promise.reject(new Error('nobody thought of it'));
  const [one, two] = [item('one'), item('two')];
  exchange.plan(two, 60_000);
  const asking = ask(one);
  await pass(25);
  expect([asking.answer, exchange.away, exchange.gateways]).toEqual([false, true, undefined]);
  expect([exchange.has(one), exchange.has(two)]).toEqual([true, true]);
  await pass(3_000);
  expect(told.map(({ names }) => names)).toEqual(Array.from({ length: 4 }, () => ['two', 'one']));
  // Once for a whole absence.
  expect(logged).toEqual([expect.stringContaining('limits could not be shared among gateways')]);
  others = answerAll;
  await pass(1_000);
  expect([exchange.away, exchange.gateways, exchange.has(one)]).toEqual([false, 3, false]);
  others = () => Promise.reject(new Error('again'));
  exchange.plan(one, 0);
  await pass(25);
  expect(logged).toHaveLength(2);
});

test('an absent store is not logged here', async () => {
  others = () => Promise.reject(new StoreUnavailable(new Error('away')));
  exchange.plan(item('one'), 0);
  await pass(25);
  expect([exchange.away, logged]).toEqual([true, []]);
});

test('nobody waits longer than a second for a store that is silent', async () => {
  const reply = Promise.withResolvers<number>();
  others = () => reply.promise;
  const one = item('one');
  const first = ask(one);
  await pass(500);
  const second = ask(one);
  await pass(499);
  expect([first.answer, second.answer, exchange.away]).toEqual([undefined, undefined, false]);
  await pass(1);
  expect([first.answer, second.answer, exchange.away]).toEqual([false, false, true]);
  reply.resolve(4);
  await pass(25);
  expect([exchange.away, exchange.gateways]).toEqual([false, 4]);
  await pass(2_000);
  expect(exchange.away).toBe(false);
});

test('who came while an exchange was under way waits a second from its end', async () => {
  const reply = Promise.withResolvers<number>();
  others = () => reply.promise;
  const one = item('one');
  void ask(one);
  await pass(500);
  const later = ask(one);
  const never = Promise.withResolvers<number>();
  others = () => never.promise;
  for (const answer of one.asked.splice(0)) answer(true);
  reply.resolve(1);
  await pass(999);
  expect([later.answer, exchange.away]).toEqual([undefined, false]);
  await pass(1);
  expect([later.answer, exchange.away]).toEqual([false, true]);
  never.resolve(1);
});

test('an answer that was there when the second was over counts', async () => {
  const reply = Promise.withResolvers<number>();
  others = async (batch) => {
    await reply.promise;
    return answerAll(batch);
  };
  const asking = ask(item('one'));
  await pass(999);
  // The process stands still: the alarm and the answer come in one go.
  const standStill = clock.advance(1, async () => {
    if (clock.monotonic() === 1_000) reply.resolve(1);
    await settled();
  });
  await standStill;
  expect([asking.answer, exchange.away]).toEqual([true, false]);
});

test('what is done now and then is done so often, told of something or not', async () => {
  await pass(4_999);
  expect(tidied).toEqual([]);
  await pass(1);
  expect(tidied).toEqual([5_000]);
  await pass(4_900);
  exchange.plan(item('one'), 0);
  await pass(99);
  expect(tidied).toHaveLength(1);
  exchange.plan(item('two'), 1);
  await pass(1);
  expect(tidied).toEqual([5_000, 10_000]);
});

test('one that was told nothing stops, too', () => exchange.stop());

test('a stop answers everybody who waits', async () => {
  const reply = Promise.withResolvers<number>();
  others = () => reply.promise;
  const one = item('one');
  const answers: boolean[] = [];
  const note: Answer = (given) => void answers.push(given);
  void exchange.ask(one).then(note);
  await pass(25);
  void exchange.ask(one).then(note);
  const stopped = exchange.stop();
  await settled();
  expect([answers, exchange.away]).toEqual([[false, false], true]);
  reply.resolve(1);
  await stopped;
});
