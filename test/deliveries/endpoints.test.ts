import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type EndpointWithSecret, Unigate, verifyEvent } from '../../client/index.ts';
import { Ledger } from '../../server/quota/ledger.ts';
import { findToken } from '../../server/store/queries/tokens.ts';
import { eventProblems } from '../conformance/contract/schemas.ts';
import { makeKey, setKeyLimited } from '../server/ledger.ts';
import { engines } from '../store/engines.ts';
import { logEntry } from '../store/ledger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { Receiver } from './receiver.ts';

const refused = { status: 403 };

describe.each(engines)('callback endpoints on %s', (engine) => {
  let gateway: TestGateway;
  let receiver: Receiver;
  let client: Unigate;
  const clientOf = (apiKey: string) => new Unigate({ baseUrl: gateway.url, apiKey, maxRetries: 0 });
  beforeAll(async () => {
    receiver = await Receiver.start();
    gateway = await startTestGateway({ callbacks: { allowPrivate: true, secret: 'of the gateway' } }, engine);
    client = clientOf(gateway.key);
  });
  afterEach(async () => {
    receiver.seen.length = 0;
    receiver.answer = 200;
    for (const { id } of (await client.me.endpoints.list()).items) await client.me.endpoints.delete(id);
    for (const { id } of (await client.admin.endpoints.list()).items) await client.admin.endpoints.delete(id);
  });
  afterAll(async () => {
    await gateway.close();
    await receiver.close();
  });

  const create = (path = '/events'): Promise<EndpointWithSecret> =>
    client.me.endpoints.create({ url: receiver.url(path), events: ['quota.exhausted'] });
  const received = (count = 1) =>
    vi.waitFor(() => {
      expect(receiver.seen).toHaveLength(count);
      return receiver.seen;
    });
  const latest = async (id: number) => (await client.me.endpoints.deliveries(id)).items[0];

  test('receive test events that are signed with their secret', async () => {
    const { id, secret } = await create();
    const delivery = await client.me.endpoints.test(id);
    const [request] = await received();
    const { text = '', headers = {}, body } = request ?? {};
    expect(eventProblems('EndpointPing', body)).toEqual([]);
    expect(eventProblems('CallbackHeaders', headers)).toEqual([]);
    const { event } = await verifyEvent(text, headers, secret);
    expect(event).toMatchObject({ id: delivery.event_id, type: 'ping', data: { endpoint_id: id } });
    expect(new Webhook(secret).verify(text, headers as Record<string, string>)).toEqual(body);
    await expect(verifyEvent(text, headers, 'of the gateway')).rejects.toMatchObject({ reason: 'signature' });
    await vi.waitFor(async () =>
      expect(await latest(id)).toMatchObject({ id: delivery.id, state: 'delivered', last_status: 200 }),
    );
  });

  test('sign with both secrets until the end of the overlap', async () => {
    const { id, secret: first } = await create();
    const { secret: second } = await client.me.endpoints.rotateSecret(id, { overlap_seconds: 600 });
    await client.me.endpoints.test(id);
    const [both] = await received();
    for (const secret of [first, second]) await verifyEvent(both?.text ?? '', both?.headers ?? {}, secret);
    expect(String(both?.headers['webhook-signature']).split(' ')).toHaveLength(2);
    const { secret: third } = await client.me.endpoints.rotateSecret(id, { overlap_seconds: 0 });
    await client.me.endpoints.test(id);
    const [, last] = await received(2);
    await verifyEvent(last?.text ?? '', last?.headers ?? {}, third);
    for (const secret of [first, second])
      await expect(verifyEvent(last?.text ?? '', last?.headers ?? {}, secret)).rejects.toThrow();
  });

  test('do not follow redirects, and a resend reaches a new URL', async () => {
    const { id } = await create('/moved');
    receiver.answer = (_, response) => response.writeHead(307, { location: receiver.url('/private') }).end();
    const sent = await client.me.endpoints.test(id);
    await vi.waitFor(async () => expect(await latest(id)).toMatchObject({ tries: 1, last_status: 307 }));
    receiver.answer = 200;
    await client.me.endpoints.update(id, { url: receiver.url('/new') });
    await client.me.endpoints.resend(id, sent.id);
    const seen = await received(2);
    expect(seen.map(({ path }) => path)).toEqual(['/moved', '/new']);
    expect(new Set(seen.map((one) => one.id)).size).toBe(1);
    await vi.waitFor(async () => expect(await latest(id)).toMatchObject({ state: 'delivered' }));
    await client.me.endpoints.resend(id, sent.id);
    await received(3);
  });

  test('give up open deliveries when they are disabled, and delete them with the endpoint', async () => {
    const { id } = await create();
    receiver.answer = 503;
    const { id: delivery } = await client.me.endpoints.test(id);
    await vi.waitFor(async () => expect(await latest(id)).toMatchObject({ tries: 1 }));
    await client.me.endpoints.update(id, { disabled: true });
    await expect(client.me.endpoints.resend(id, delivery)).rejects.toMatchObject(refused);
    const { store, callbackDeliveries } = gateway.gateway;
    const rows = store.read.selectFrom('deliveries').select('attempt').where('endpoint_id', '=', id);
    const [{ attempt } = { attempt: 0 }] = await rows.execute();
    const dueNow = { id: delivery, taskId: null, attempt, tries: 1, answer: null, next: { at: 1 }, now: 1 };
    await store.run('recordDelivery', dueNow);
    callbackDeliveries.wake();
    await vi.waitFor(async () => expect(await latest(id)).toMatchObject({ state: 'given_up' }));
    expect(receiver.seen).toHaveLength(1);
    await client.me.endpoints.delete(id);
    expect(await rows.execute()).toEqual([]);
  });

  test('receive an event of a key from the periodic scan, and the operator receives it, too', async () => {
    const { store, clock } = gateway.gateway;
    const own = await create('/own');
    await client.admin.endpoints.create({ url: receiver.url('/operator'), events: ['quota.exhausted'] });
    const { id } = await makeKey(gateway, { quota: 100 });
    const token = await findToken(store.read, id);
    if (token === undefined) throw new Error('the key does not exist');
    const ledger = new Ledger(store, 'a gateway', clock);
    const requestId = `call on ${engine}`;
    await ledger.reserve({ requestId, token, model: 'm', unit: 'characters', amount: 100 });
    await ledger.settle({ requestId, charged: 100, log: logEntry });
    const seen = await received(2);
    expect(seen.map(({ path }) => path).toSorted()).toEqual(['/operator', '/own']);
    expect(new Set(seen.map((one) => one.id)).size).toBe(1);
    const request = seen.find(({ path }) => path === '/own');
    expect(eventProblems('QuotaExhaustedEvent', request?.body)).toEqual([]);
    const { event } = await verifyEvent(request?.text ?? '', request?.headers ?? {}, own.secret);
    expect(event).toMatchObject({ type: 'quota.exhausted', data: { user_id: 1, key_id: id, debt: 0 } });
  });

  test('are limited in number, also by concurrent requests', async () => {
    const results = await Promise.allSettled(Array.from({ length: 25 }, () => create()));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
    for (const result of results)
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ status: 403, message: expect.stringContaining('20') });
  });

  test('do not exist for other users, and keys with limits must not use them', async () => {
    const { id } = await create();
    const user = await client.admin.users.create({ name: 'other' });
    const { key } = await client.admin.tokens.create(user.id, { name: 'k', unlimited_quota: true });
    const other = clientOf(key).me.endpoints;
    expect(await other.list()).toEqual({ items: [], total: 0 });
    const unknown = { status: 404 };
    await expect(other.retrieve(id)).rejects.toMatchObject(unknown);
    await expect(other.update(id, { disabled: true })).rejects.toMatchObject(unknown);
    await expect(other.rotateSecret(id)).rejects.toMatchObject(unknown);
    await expect(other.test(id)).rejects.toMatchObject(unknown);
    await expect(other.deliveries(id)).rejects.toMatchObject(unknown);
    await expect(other.delete(id)).rejects.toMatchObject(unknown);
    const limited = await makeKey(gateway, { quota: 100 });
    await setKeyLimited(gateway, limited, true);
    const child = clientOf(limited.key).me.endpoints;
    for (const refusal of [child.list(), child.retrieve(id), child.test(id), child.delete(id)])
      await expect(refusal).rejects.toMatchObject(refused);
  });

  test('are listed among callbacks for their owner only', async () => {
    const { id, secret } = await create();
    const operator = await client.admin.endpoints.create({
      url: receiver.url('/operator'),
      events: ['task.stuck'],
    });
    await client.me.endpoints.test(id);
    await client.admin.endpoints.test(operator.id);
    await received(2);
    const { items } = await client.callbacks.list({ page_size: 100 });
    expect(new Set(items.map(({ endpoint_id }) => endpoint_id))).toEqual(new Set([id, operator.id]));
    const mine = items.find(({ endpoint_id }) => endpoint_id === id);
    expect(mine).toMatchObject({ task_id: null, event: 'ping', url: receiver.url('/events') });
    const { body, headers } = mine ?? { body: '', headers: {} };
    expect(await verifyEvent(body, headers, secret)).toMatchObject({ event: { type: 'ping' } });
    const limited = await makeKey(gateway, { quota: 100 });
    await setKeyLimited(gateway, limited, true);
    expect(await clientOf(limited.key).callbacks.list()).toEqual({ items: [], total: 0 });
    const all = await client.admin.deliveries.list({ page_size: 100 });
    expect(all.items.find(({ endpoint_id }) => endpoint_id === operator.id)).toMatchObject({
      task_id: null,
      user_id: null,
      event: 'ping',
      event_id: expect.stringMatching(/^event_/),
    });
  });
});

test('private addresses are refused at the creation and again at the delivery', async () => {
  const settings = { callbacks: { allowPrivate: false, secret: undefined } };
  const gateway = await startTestGateway(settings);
  const receiver = await Receiver.start();
  const { endpoints } = new Unigate({ baseUrl: gateway.url, apiKey: gateway.key, maxRetries: 0 }).me;
  const events = ['task.stuck' as const];
  for (const url of ['http://127.0.0.1/', 'http://localhost/', 'http://[::1]/', 'http://10.0.0.1/'])
    await expect(endpoints.create({ url, events })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('url'),
    });
  const { id } = await endpoints.create({ url: 'https://app.example/', events });
  await expect(endpoints.update(id, { url: 'http://10.0.0.1/' })).rejects.toMatchObject({ status: 400 });
  // A name that resolves to a private address, as an attacker can arrange after the creation.
  await gateway.gateway.store.run('updateEndpoint', {
    id,
    userId: 1,
    set: { url: receiver.url('/private') },
    now: 1,
  });
  await endpoints.test(id);
  await vi.waitFor(async () =>
    expect((await endpoints.deliveries(id)).items[0]).toMatchObject({ last_error: 'private address' }),
  );
  expect(receiver.seen).toEqual([]);
  await gateway.close();
  await receiver.close();
});
