import { expect, test } from 'vitest';
import { SlotAllocator } from '../../server/lib/slot-allocator.ts';

test('a user acquires a slot while it holds fewer than are free', () => {
  const slots = new SlotAllocator({ free: 8 });
  expect(slots.available(1)).toBe(4);
  for (let count = 0; count < 4; count += 1) slots.acquire(1);
  expect([slots.free, slots.available(1), slots.available(2)]).toEqual([4, 0, 2]);
  slots.acquire(2);
  slots.acquire(2);
  expect([slots.available(2), slots.available(3), slots.exhaustedUsers]).toEqual([0, 1, [1, 2]]);
  slots.acquire(3);
  expect([slots.free, slots.available(4)]).toEqual([1, 1]);
  slots.acquire(4);
  expect([slots.free, slots.available(5)]).toEqual([0, 0]);
});

test('a released slot is free for a user with fewer', () => {
  const slots = new SlotAllocator({ free: 0, held: [{ userId: 1, running: 4 }] });
  expect(slots.available(2)).toBe(0);
  slots.release(1);
  expect([slots.free, slots.heldBy(1), slots.available(1), slots.available(2)]).toEqual([1, 3, 0, 1]);
  for (let count = 0; count < 3; count += 1) slots.release(1);
  expect([slots.free, slots.held]).toEqual([4, []]);
});

test('a user holds no more than the limit for one user', () => {
  const slots = new SlotAllocator({ free: 100, maxPerUser: 3 });
  for (let held = 0; held < 3; held += 1) {
    expect(slots.available(1)).toBe(3 - held);
    slots.acquire(1);
  }
  expect([slots.available(1), slots.available(2)]).toEqual([0, 3]);
});

test('no user acquires a slot when more slots are held than exist', () => {
  const slots = new SlotAllocator({ free: 0 });
  slots.acquire(1);
  expect([slots.free, slots.available(1), slots.available(2)]).toEqual([-1, 0, 0]);
});
