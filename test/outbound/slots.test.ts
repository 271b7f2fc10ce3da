import { beforeEach, describe, expect, test } from 'vitest';
import { BusyError, type Release, Slots, type SlotUser } from '../../server/outbound/slots.ts';
import { ManualTimers } from '../support/manual-timers.ts';

const never = new AbortController().signal;
const anna = 1;
const berta = 2;
const clara = 3;

let timers: ManualTimers;
let slots: Slots;
/** Granted slots in order. */
let granted: { user: SlotUser; release: Release }[];
beforeEach(() => {
  timers = new ManualTimers();
  slots = new Slots({ count: 8, waitMs: 10_000, timers });
  granted = [];
});

const settle = () => new Promise((resolve) => setImmediate(resolve));
const users = () => granted.map(({ user }) => user);

/** Requests slots and returns the promise of the last one. */
async function request(user: SlotUser, count: number, signal = never): Promise<{ last: Promise<void> }> {
  let last = Promise.resolve();
  for (let one = 0; one < count; one += 1) {
    last = slots.acquire(user, signal).then((release) => void granted.push({ user, release }));
    last.catch(() => {});
  }
  await settle();
  return { last };
}

async function release(user: SlotUser): Promise<void> {
  const index = granted.findIndex((one) => one.user === user);
  granted.splice(index, 1)[0]?.release();
  await settle();
}

describe('shares', () => {
  test('give one user half of the slots, the next user half of the rest, and so on', async () => {
    await request(anna, 9);
    expect(users()).toEqual(Array.from({ length: 4 }, () => anna));
    await request(berta, 9);
    await request(clara, 9);
    expect(users().slice(4)).toEqual([berta, berta, clara]);
  });

  test('treat the gateway like one user', async () => {
    await request(undefined, 9);
    await request(anna, 1);
    expect(users()).toEqual([undefined, undefined, undefined, undefined, anna]);
  });

  test('grant a released slot to a waiting user with few slots', async () => {
    await request(anna, 4);
    await request(berta, 2);
    await request(anna, 2);
    await request(clara, 3);
    expect(users().slice(6)).toEqual([clara]);
    await release(anna);
    expect(users().slice(5)).toEqual([clara, clara]);
    await release(berta);
    await release(berta);
    expect(users()).toEqual([anna, anna, anna, clara, clara, clara]);
    await release(clara);
    await release(clara);
    expect(users()).toEqual([anna, anna, anna, clara, anna]);
  });

  test('release a slot once', async () => {
    await request(anna, 4);
    const [first] = granted;
    first?.release();
    first?.release();
    await request(anna, 2);
    expect(users()).toHaveLength(5);
  });

  test('are idle when all slots are released', async () => {
    expect(slots.isIdle).toBe(true);
    await request(anna, 4);
    expect(slots.isIdle).toBe(false);
    for (const one of granted) one.release();
    expect(slots.isIdle).toBe(true);
  });
});

describe('waiting', () => {
  test('ends with BusyError after waitMs', async () => {
    const { last: timedOut } = await request(anna, 5);
    timers.advance(9_999);
    await settle();
    expect(users()).toHaveLength(4);
    timers.advance(1);
    await expect(timedOut).rejects.toBeInstanceOf(BusyError);
    // The request has left the queue, so no released slot is lost.
    await release(anna);
    await release(anna);
    await request(berta, 9);
    expect(users().filter((user) => user === berta)).toHaveLength(3);
  });

  test('ends with the reason of the aborted signal', async () => {
    const disconnect = new AbortController();
    const { last: waiting } = await request(anna, 5, disconnect.signal);
    disconnect.abort(new Error('the client disconnected'));
    await expect(waiting).rejects.toThrow('the client disconnected');
    await expect(slots.acquire(berta, disconnect.signal)).rejects.toThrow('the client disconnected');
    for (const one of granted) one.release();
    expect(slots.isIdle).toBe(true);
  });

  test('cancels its alarm when a slot is granted', async () => {
    await request(anna, 5);
    await release(anna);
    expect(users()).toHaveLength(4);
    timers.advance(20_000);
    await settle();
    expect(users()).toHaveLength(4);
  });
});
