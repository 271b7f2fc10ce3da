import { beforeEach, describe, expect, test } from 'vitest';
import { BusyError, type Release, Slots, type SlotUser } from '../../server/outbound/slots.ts';
import { ManualTimers } from '../support/manual-timers.ts';

const never = new AbortController().signal;
const anna = 1;
const berta = 2;
const clara = 3;

let timers: ManualTimers;
let slots: Slots;
/** Who got a slot, in order. */
let got: { user: SlotUser; leave: Release }[];
beforeEach(() => {
  timers = new ManualTimers();
  slots = new Slots({ count: 8, waitMs: 10_000, timers });
  got = [];
});

const settle = () => new Promise((resolve) => setImmediate(resolve));
const users = () => got.map(({ user }) => user);

/** Asks for some slots, and gives what becomes of the last one. */
async function ask(user: SlotUser, count: number, signal = never): Promise<{ last: Promise<void> }> {
  let last = Promise.resolve();
  for (let one = 0; one < count; one += 1) {
    last = slots.acquire(user, signal).then((leave) => void got.push({ user, leave }));
    last.catch(() => {});
  }
  await settle();
  return { last };
}

async function leave(user: SlotUser): Promise<void> {
  const index = got.findIndex((one) => one.user === user);
  got.splice(index, 1)[0]?.leave();
  await settle();
}

describe('shares', () => {
  test('one user gets half of the slots, the next half of what is left, and so on', async () => {
    await ask(anna, 9);
    expect(users()).toEqual(Array.from({ length: 4 }, () => anna));
    await ask(berta, 9);
    await ask(clara, 9);
    expect(users().slice(4)).toEqual([berta, berta, clara]);
  });

  test('what the gateway does for itself has a share like a user', async () => {
    await ask(undefined, 9);
    await ask(anna, 1);
    expect(users()).toEqual([undefined, undefined, undefined, undefined, anna]);
  });

  test('a slot that is given back goes to who waits and has few, not to who has many', async () => {
    await ask(anna, 4);
    await ask(berta, 2);
    await ask(anna, 2);
    await ask(clara, 3);
    expect(users().slice(6)).toEqual([clara]);
    await leave(anna);
    expect(users().slice(5)).toEqual([clara, clara]);
    await leave(berta);
    await leave(berta);
    expect(users()).toEqual([anna, anna, anna, clara, clara, clara]);
    await leave(clara);
    await leave(clara);
    expect(users()).toEqual([anna, anna, anna, clara, anna]);
  });

  test('a slot is given back once', async () => {
    await ask(anna, 4);
    const [first] = got;
    first?.leave();
    first?.leave();
    await ask(anna, 2);
    expect(users()).toHaveLength(5);
  });

  test('nobody has one any more when all are given back', async () => {
    expect(slots.isIdle).toBe(true);
    await ask(anna, 4);
    expect(slots.isIdle).toBe(false);
    for (const one of got) one.leave();
    expect(slots.isIdle).toBe(true);
  });
});

describe('waiting', () => {
  test('ends after a time', async () => {
    const { last: late } = await ask(anna, 5);
    timers.advance(9_999);
    await settle();
    expect(users()).toHaveLength(4);
    timers.advance(1);
    await expect(late).rejects.toBeInstanceOf(BusyError);
    // It has left the queue: a slot that becomes free is not lost on it.
    await leave(anna);
    await leave(anna);
    await ask(berta, 9);
    expect(users().filter((user) => user === berta)).toHaveLength(3);
  });

  test('ends with the signal, whose reason it gives', async () => {
    const gone = new AbortController();
    const { last: waiting } = await ask(anna, 5, gone.signal);
    gone.abort(new Error('the client left'));
    await expect(waiting).rejects.toThrow('the client left');
    await expect(slots.acquire(berta, gone.signal)).rejects.toThrow('the client left');
    for (const one of got) one.leave();
    expect(slots.isIdle).toBe(true);
  });

  test('leaves no alarm behind that could ring', async () => {
    await ask(anna, 5);
    await leave(anna);
    expect(users()).toHaveLength(4);
    timers.advance(20_000);
    await settle();
    expect(users()).toHaveLength(4);
  });
});
