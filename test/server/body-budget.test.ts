import { request as open } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { BodyBudget, type BodyReservation } from '../../server/http/body-budget.ts';
import { megabyte } from '../../server/http/body-limits.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { ManualTimers } from '../support/manual-timers.ts';

const never = new AbortController().signal;
const timers = new ManualTimers();
const budgetOf = (maxMb: number) => new BodyBudget({ maxMb: () => maxMb, timers, waitMs: 1_000 });

/** Returns the reservation of a body that does not have to wait. */
function acquireNow(budget: BodyBudget, keyId: number, bytes: number): BodyReservation {
  const reservation = budget.acquire(keyId, bytes, never);
  if (reservation instanceof Promise) throw new Error('the body has to wait');
  return reservation;
}

describe('the budget of a key', () => {
  test('bodies that fit are accepted at once, others of the key wait until one is released', async () => {
    const budget = budgetOf(10);
    const first = acquireNow(budget, 1, 6 * megabyte);
    acquireNow(budget, 1, 4 * megabyte);
    const waiting = budget.acquire(1, 1, never);
    expect(waiting).toBeInstanceOf(Promise);
    acquireNow(budget, 2, 10 * megabyte);
    first.release();
    await expect(waiting).resolves.toBeDefined();
    expect(timers.pending).toBe(0);
  });

  test('429 with retry-after once the wait is over', async () => {
    const budget = budgetOf(10);
    acquireNow(budget, 1, 10 * megabyte);
    const waiting = budget.acquire(1, megabyte, never);
    timers.advance(1_000);
    await expect(waiting).rejects.toMatchObject({
      status: 429,
      code: 'rate_limit_exceeded',
      message: 'This key may have 10 MB of request bodies in progress. Retry after 1 second.',
      retryAfter: 1,
    });
  });

  test('a body larger than the budget is accepted while the key has no other', async () => {
    const budget = budgetOf(1);
    const only = acquireNow(budget, 1, 5 * megabyte);
    await expect(budget.acquire(1, 1, AbortSignal.abort('gone'))).rejects.toBe('gone');
    only.release();
    acquireNow(budget, 1, 5 * megabyte);
  });

  test('a body that turns out smaller returns the rest', async () => {
    const budget = budgetOf(10);
    const first = acquireNow(budget, 1, 10 * megabyte);
    const waiting = budget.acquire(1, 9 * megabyte, never);
    first.shrink(2 * megabyte);
    first.shrink(8 * megabyte);
    expect(timers.pending).toBe(1);
    first.shrink(megabyte);
    await waiting;
    await expect(budget.acquire(1, 1, AbortSignal.abort('gone'))).rejects.toBe('gone');
  });

  test('a client that disconnects while it waits releases its reservation', async () => {
    const budget = budgetOf(10);
    const first = acquireNow(budget, 1, 10 * megabyte);
    const client = new AbortController();
    const waiting = budget.acquire(1, megabyte, client.signal);
    client.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    expect(timers.pending).toBe(0);
    first.release();
    first.release();
    expect(budget.size).toBe(0);
    acquireNow(budget, 1, 10 * megabyte);
  });
});

describe('on the gateway', () => {
  let target: TestGateway;
  beforeAll(async () => {
    target = await startTestGateway({
      sandbox: false,
      channels: [],
      limits: { bodyMb: 64, bodyMbPerKey: 40, requestsPerMinute: 0, socketsPerKey: 0 },
    });
  });
  afterAll(() => target.close());

  const { path } = operations.createNativeVideo;
  const headersOf = (more: Record<string, string>) => ({
    authorization: `Bearer ${target.key}`,
    'content-type': 'application/json',
    ...more,
  });
  /** Starts a request whose body stays open. */
  const begin = (more: Record<string, string>) => {
    const sending = open(target.url + path, { method: 'POST', headers: headersOf(more), agent: false });
    sending.on('error', () => {});
    sending.flushHeaders();
    const outcome = new Promise<{ status: number | undefined; retryAfter: unknown; body: string }>(
      (resolve) =>
        sending.on('response', (response) => {
          void text(response).then((body) =>
            resolve({ status: response.statusCode, retryAfter: response.headers['retry-after'], body }),
          );
        }),
    );
    return { sending, outcome };
  };

  test.each([
    ['a declared length', { 'content-length': String(30 * megabyte) }],
    ['no declared length', { 'transfer-encoding': 'chunked' }],
  ])('429 while a body of %s is open, and none after it', async (_, length) => {
    const first = begin(length);
    first.sending.write(' ');
    const second = begin({ 'content-length': String(20 * megabyte) });
    second.sending.end(' '.repeat(20 * megabyte));
    const refused = await second.outcome;
    expect([refused.status, refused.retryAfter]).toEqual([429, '1']);
    expect(refused.body).toContain('This key may have 40 MB of request bodies in progress.');
    first.sending.destroy();
    const third = begin({ 'content-length': '2' });
    third.sending.end('{}');
    expect((await third.outcome).status).toBe(400);
  });

  test('a body without a declared length counts with its actual size once it has been read', async () => {
    const first = begin({ 'transfer-encoding': 'chunked' });
    first.sending.end('{}');
    expect((await first.outcome).status).toBe(400);
    const both = [begin({ 'transfer-encoding': 'chunked' }), begin({ 'transfer-encoding': 'chunked' })];
    for (const { sending } of both) sending.end('{}');
    for (const { outcome } of both) expect((await outcome).status).toBe(400);
  });
});
