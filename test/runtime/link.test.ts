import { expect, test } from 'vitest';
import { type Answers, Link } from '../../server/app/workers/link.ts';

type Asked = { double: { ask: number; answer: number }; never: { ask: undefined; answer: void } };

/** Two ends, each of which is given what the other one posts, as plain data. */
function linked(answers: Answers<Asked>) {
  const here = new Link<Asked, Record<never, never>>(
    (message) => there.receive(structuredClone(message)),
    {},
  );
  const there = new Link<Record<never, never>, Asked>(
    (message) => here.receive(structuredClone(message)),
    answers,
  );
  return { here, there };
}

const answers: Answers<Asked> = {
  double: async (value) => {
    if (value < 0) throw new RangeError(`${value} is too small`);
    return value * 2;
  },
  never: () => new Promise(() => {}),
};

test('questions have their own answers, and failures their words', async () => {
  const { here } = linked(answers);
  const all = await Promise.allSettled([3, -1, 4].map((value) => here.ask('double', value)));
  expect(all).toMatchObject([{ value: 6 }, { reason: { message: '-1 is too small' } }, { value: 8 }]);
});

test('nobody waits for one that is silent, or gone', async () => {
  const { here } = linked(answers);
  await expect(here.ask('never', undefined, 1)).rejects.toThrow('no answer within 1 ms');
  const waiting = here.ask('never', undefined);
  here.close();
  await expect(waiting).rejects.toThrow('the other process is gone');
  await expect(here.ask('double', 1)).rejects.toThrow('the other process is gone');
});

test('what else comes over the channel is left alone, and what nobody answers is said to be that', async () => {
  const { here, there } = linked(answers);
  for (const nonsense of [undefined, null, 'cpu', 7, {}, { link: 'answer', number: 99, name: '', value: 1 }])
    here.receive(nonsense);
  there.receive({ link: 'question', number: 1, name: 'constructor', value: 1 });
  await expect(here.ask('double', 1)).resolves.toBe(2);
  const other = new Link<{ other: { ask: undefined; answer: void } }, Record<never, never>>(
    (message) => end.receive(message),
    {},
  );
  const end = new Link<Record<never, never>, Asked>((message) => other.receive(message), answers);
  await expect(other.ask('other', undefined)).rejects.toThrow('nobody here answers other');
});
