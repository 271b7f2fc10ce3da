import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DeliveryError, UnigateError, verifyDelivery } from '../../client/index.ts';
import { webhookHeaders } from '../../server/tasks/callbacks/callback-sender.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const now = Date.parse('2026-03-01T12:00:00Z');
const record = {
  task_id: 't1',
  action: 'MUSIC',
  status: 'SUCCESS',
  fail_reason: '',
  data: [],
  title: 'Größe 声',
};
const body = JSON.stringify(record);

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now }));
afterEach(() => void vi.useRealTimers());

/** Returns the headers that the gateway sends with a body. */
const signed = (text = body, at = now, key = secret) => webhookHeaders('msg_1_completed', at, text, key);
const reasonOf = (delivery: Promise<unknown>) =>
  delivery.then(
    () => 'accepted',
    (error: unknown) => (error instanceof DeliveryError ? error.reason : error),
  );

describe('a signed delivery is accepted', () => {
  test('with its task, id and time', async () => {
    expect(await verifyDelivery(body, signed(), secret)).toEqual({
      id: 'msg_1_completed',
      sentAt: new Date(now),
      kind: 'music',
      task: record,
    });
  });

  test('as text and as bytes, with the headers of fetch, of Node and of others', async () => {
    const headers = signed();
    const raised = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]),
    );
    for (const form of [headers, new Headers(headers), raised]) {
      expect(await verifyDelivery(body, form, secret)).toMatchObject({ kind: 'music' });
      expect(await verifyDelivery(Buffer.from(body), form, secret)).toMatchObject({ task: record });
      expect(await verifyDelivery(new TextEncoder().encode(body), form, secret)).toMatchObject({
        task: record,
      });
    }
  });

  test.each(['plain words, and ünïcode', secret, 'x'])('under the secret %s', async (key) => {
    expect(await verifyDelivery(body, signed(body, now, key), key)).toMatchObject({ kind: 'music' });
  });

  test('during a rotation of the secret', async () => {
    for (const key of ['old', 'new'])
      expect(await reasonOf(verifyDelivery(body, signed(body, now, key), ['old', 'new']))).toBe('accepted');
    expect(await reasonOf(verifyDelivery(body, signed(body, now, 'older'), ['old', 'new']))).toBe(
      'signature',
    );
  });

  test('when one of several signatures is valid', async () => {
    const headers = signed();
    const others = `v1,${btoa('x'.repeat(32))} v1a,${headers['webhook-signature']} v1,%% v1, ${headers['webhook-signature']}`;
    expect(await reasonOf(verifyDelivery(body, { ...headers, 'webhook-signature': others }, secret))).toBe(
      'accepted',
    );
  });

  test.each([
    ['video', { id: 'task_1', model: 'm', status: 'running', created_at: 1, updated_at: 1 }],
    ['image', { id: '17', action: 'UPSCALE', status: 'SUCCESS', buttons: [], imageUrl: null }],
  ])('of the kind %s', async (kind, task) => {
    const text = JSON.stringify(task);
    expect(await verifyDelivery(text, signed(text), secret)).toMatchObject({ kind, task });
  });
});

describe('the client and the Standard Webhooks library agree', () => {
  const library = new Webhook(secret);

  test('on deliveries that the library signs', async () => {
    const signature = library.sign('msg_2', new Date(now), body);
    const headers = {
      'webhook-id': 'msg_2',
      'webhook-timestamp': `${now / 1_000}`,
      'webhook-signature': signature,
    };
    expect(await verifyDelivery(body, headers, secret)).toMatchObject({ id: 'msg_2', task: record });
    expect(library.verify(body, headers)).toEqual(record);
  });

  test.each<[string, Record<string, string>, string]>([
    ['as it is', {}, body],
    ['another body', {}, `${body} `],
    ['another id', { 'webhook-id': 'msg_3' }, body],
    ['another time', { 'webhook-timestamp': `${now / 1_000 + 1}` }, body],
    ['no signature', { 'webhook-signature': '' }, body],
    [
      'another version',
      { 'webhook-signature': signed()['webhook-signature']?.replace('v1', 'v2') ?? '' },
      body,
    ],
    ['a cut signature', { 'webhook-signature': signed()['webhook-signature']?.slice(0, -5) ?? '' }, body],
  ])('%s', async (_, change, text) => {
    const headers = { ...signed(), ...change };
    const verdict = () => {
      try {
        return Boolean(library.verify(text, headers));
      } catch {
        return false;
      }
    };
    expect((await reasonOf(verifyDelivery(text, headers, secret))) === 'accepted').toBe(verdict());
  });
});

describe('a delivery is rejected', () => {
  const { 'webhook-signature': _, ...unsigned } = signed();

  test.each<[string, string, object, string]>([
    ['header', 'without a signature', unsigned, body],
    ['header', 'without an id', { ...signed(), 'webhook-id': undefined }, body],
    ['header', 'with two ids', { ...signed(), 'webhook-id': ['a', 'b'] }, body],
    ['header', 'without a time', { ...signed(), 'webhook-timestamp': '' }, body],
    ['time', 'with a time that is none', { ...signed(), 'webhook-timestamp': '0x65e1c' }, body],
    ['time', 'five minutes old', signed(body, now - 301_000), body],
    ['time', 'from the future', signed(body, now + 301_000), body],
    ['accepted', 'a little less old', signed(body, now - 300_000), body],
    ['accepted', 'a little less early', signed(body, now + 300_000), body],
    ['signature', 'under another secret', signed(body, now, 'other'), body],
    ['signature', 'with another body', signed(), body.replace('SUCCESS', 'FAILURE')],
    ['body', 'no JSON', signed('no'), 'no'],
    ['body', 'of no kind', signed('{"id": 1}'), '{"id": 1}'],
    ['body', 'null', signed('null'), 'null'],
  ])('%s: %s', async (reason, _name, headers, text) => {
    expect(await reasonOf(verifyDelivery(text, { ...headers }, secret))).toBe(reason);
  });

  test('outside a custom tolerance', async () => {
    const late = signed(body, now - 11_000);
    expect(await reasonOf(verifyDelivery(body, late, secret, { toleranceMs: 10_000 }))).toBe('time');
    expect(await reasonOf(verifyDelivery(body, late, secret, { toleranceMs: 11_000 }))).toBe('accepted');
    expect(await reasonOf(verifyDelivery(body, late, secret, { toleranceMs: Number.NaN }))).toBe('time');
  });

  test('a parsed body and an invalid secret throw UnigateError', async () => {
    await expect(verifyDelivery(record as unknown as string, signed(), secret)).rejects.toThrow(
      new UnigateError('body must be the raw bytes or text of the request, not a parsed value.'),
    );
    for (const invalid of ['', 'whsec_', 'whsec_%%'])
      await expect(verifyDelivery(body, signed(), invalid)).rejects.toThrow(
        new UnigateError('secret must not be empty, and must be Base64 after whsec_.'),
      );
    expect(await reasonOf(verifyDelivery(body, signed(), []))).toBe('signature');
  });
});
