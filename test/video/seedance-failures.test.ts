import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { ledgerRows, logRows, makeKey, remainingQuota } from '../server/ledger.ts';
import {
  failure,
  finished,
  genericPath,
  officialPath,
  seedance25,
  sendJson,
  text,
  useSeedanceRig,
} from './seedance-provider.ts';

const rig = useSeedanceRig();

describe('the ledger', () => {
  const lastLedgerRow = async () => (await ledgerRows(rig.gateway)).at(-1);
  const lastLogRow = async () => (await logRows(rig.gateway)).at(-1);

  test.each<[string, object, object, number, number]>([
    ['the reported seconds', { duration: -1 }, { ...finished, duration: 9 }, 300, 90],
    [
      'the reported frames',
      { duration: undefined, frames: 97 },
      { ...finished, duration: undefined, frames: 97 },
      50,
      41,
    ],
    [
      'the frames divided by their rate',
      {},
      { ...finished, duration: undefined, frames: 60, framespersecond: 30 },
      50,
      20,
    ],
    ['the reservation', {}, { ...finished, duration: undefined }, 50, 50],
    [
      'the reservation for a duration of -1',
      { duration: undefined },
      { ...finished, duration: -1 },
      300,
      300,
    ],
  ])('charges %s', async (_, change, upstreamState, reserved, charged) => {
    const { key, id: token } = await makeKey(rig.gateway, { quota: 1000 });
    const id = await rig.create(change, officialPath, key);
    expect(await remainingQuota(rig.gateway, token)).toBe(1000 - reserved);
    rig.taskState = upstreamState;
    await rig.poll(id);
    expect(await lastLedgerRow()).toEqual({ state: 'settled', reserved, charged, unit: 'seconds' });
    expect(await remainingQuota(rig.gateway, token)).toBe(1000 - charged);
    expect(await lastLogRow()).toMatchObject({
      operation: 'createOfficialVideo',
      model_name: seedance25,
      channel: 'recording',
      status: 200,
      error_code: null,
      quota: charged,
    });
  });

  test('stores the tokens', async () => {
    const id = await rig.create();
    rig.taskState = finished;
    await rig.poll(id);
    expect(await lastLogRow()).toMatchObject({ units: 5, completion_tokens: 108_900 });
  });

  test('refunds the reservation of a failed task', async () => {
    const { key, id: token } = await makeKey(rig.gateway, { quota: 1000 });
    const id = await rig.create({}, officialPath, key);
    rig.taskState = { status: 'failed', error: failure };
    expect(await rig.poll(id)).toMatchObject({ status: 'failed', error: failure });
    expect(await lastLedgerRow()).toMatchObject({ state: 'refunded', reserved: 50 });
    expect(await remainingQuota(rig.gateway, token)).toBe(1000);
    expect(await lastLogRow()).toMatchObject({ error_code: failure.code, quota: 0 });
  });

  test('refuses a key that cannot pay, without a request to the upstream', async () => {
    const { key } = await makeKey(rig.gateway, { quota: 49 });
    const response = await rig.post(officialPath, { model: seedance25, content: [text], duration: 5 }, key);
    expect(response.status).toBe(403);
    expect(rig.upstream.changes()).toEqual([]);
  });
});

describe('an upstream that rejects a request', () => {
  test.each<[number, object, number, string, string]>([
    [
      400,
      { code: 'InputTextSensitiveContentDetected', message: 'Not this' },
      400,
      'InputTextSensitiveContentDetected',
      'Not this',
    ],
    [404, { code: 'ModelNotOpen', message: 'Not open' }, 404, 'ModelNotOpen', 'Not open'],
    [
      401,
      { code: 'AuthenticationError', message: 'key sk-1' },
      502,
      'bad_response_status_code',
      'The provider failed',
    ],
    [
      403,
      { code: 'AccountOverdueError', message: 'pay acct-7' },
      502,
      'bad_response_status_code',
      'The provider failed',
    ],
    [
      429,
      { code: 'QuotaExceeded', message: 'acct-7' },
      429,
      'rate_limit_exceeded',
      'The provider takes no more',
    ],
    [
      500,
      { code: 'InternalServiceError', message: 'host x' },
      502,
      'bad_response_status_code',
      'The provider failed',
    ],
    [503, { code: 'ServerOverloaded', message: 'host x' }, 503, 'get_channel_failed', 'not available'],
  ])('with %i and %j leads to %i', async (status, error, expectedStatus, code, expectedText) => {
    const { key, id: token } = await makeKey(rig.gateway, { quota: 1000 });
    rig.overrides.set('POST', (_, response) =>
      sendJson(response, status, { error: { ...error, param: '', type: 'X' } }),
    );
    for (const path of [officialPath, genericPath]) {
      const response = await rig.post(
        path,
        { model: seedance25, prompt: 'A cat', content: [text], duration: 5 },
        key,
      );
      expect(response.status).toBe(expectedStatus);
      expect(await response.json()).toEqual({
        error: { code, message: expect.stringContaining(expectedText), request_id: expect.any(String) },
      });
    }
    expect(await remainingQuota(rig.gateway, token)).toBe(1000);
    expect((await ledgerRows(rig.gateway)).at(-1)).toMatchObject({ state: 'refunded' });
  });
});

describe('an upstream with an invalid response', () => {
  test.each<[string, (response: ServerResponse) => void]>([
    ['broken JSON', (response) => response.writeHead(200).end('{"id": ')],
    ['no id', (response) => sendJson(response, 200, { task: 'x' })],
    ['an id that is not a string', (response) => sendJson(response, 200, { id: 7 })],
    ['an empty response', (response) => response.writeHead(200).end()],
    ['a closed connection', (response) => response.destroy()],
  ])('to a submission, %s, costs nothing', async (_, respond) => {
    const { key, id: token } = await makeKey(rig.gateway, { quota: 1000 });
    rig.overrides.set('POST', (__, response) => respond(response));
    const response = await rig.post(officialPath, { model: seedance25, content: [text], duration: 5 }, key);
    expect(response.status).toBe(502);
    expect(JSON.stringify(await response.json())).not.toContain(rig.upstream.url);
    expect(await remainingQuota(rig.gateway, token)).toBe(1000);
    expect(rig.sent()).toHaveLength(1);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['broken JSON', (response) => response.writeHead(200).end('{"id": ')],
    ['a list', (response) => sendJson(response, 200, [])],
    ['an empty response', (response) => response.writeHead(200).end()],
    ['null', (response) => sendJson(response, 200, null)],
    ['500', (response) => sendJson(response, 500, { error: { code: 'X', message: 'Y' } })],
    ['429', (response) => sendJson(response, 429, { error: { code: 'X', message: 'Y' } })],
    ['a closed connection', (response) => response.destroy()],
  ])('to a poll, %s, is polled again', async (_, respond) => {
    const id = await rig.create();
    rig.taskState = { status: 'running' };
    await rig.poll(id);
    rig.overrides.set('GET', (__, response) => respond(response));
    expect(await rig.poll(id)).toMatchObject({ status: 'running', error: null });
    rig.overrides.clear();
    rig.taskState = finished;
    expect(await rig.poll(id)).toMatchObject({ status: 'succeeded' });
  });

  test('about a lost task fails it without the upstream’s message', async () => {
    const { key, id: token } = await makeKey(rig.gateway, { quota: 1000 });
    const id = await rig.create({}, officialPath, key);
    rig.overrides.set('GET', (_, response) =>
      sendJson(response, 404, { error: { code: 'ResourceNotFound', message: `no ${rig.upstreamId}` } }),
    );
    const { status, body } = await rig.send('GET', `${officialPath}/${id}`, key);
    expect([status, body.status]).toEqual([200, 'queued']);
    await rig.pass(60_000);
    const after = await rig.send('GET', `${officialPath}/${id}`, key);
    expect(after.body).toMatchObject({ status: 'failed', error: { code: 'task_lost' } });
    expect(JSON.stringify(after.body)).not.toContain('cgt-');
    expect(await remainingQuota(rig.gateway, token)).toBe(1000);
  });
});

describe('a task that does not end in time', () => {
  test('expires, is stopped upstream and costs nothing', async () => {
    const { key, id: token } = await makeKey(rig.gateway, { quota: 1000 });
    const id = await rig.create({ execution_expires_after: 3600 }, officialPath, key);
    rig.taskState = { status: 'running' };
    await rig.pass(3_599_000);
    expect((await rig.send('GET', `${officialPath}/${id}`, key)).body.status).toBe('running');
    await rig.pass(60_000);
    expect((await rig.send('GET', `${officialPath}/${id}`, key)).body).toMatchObject({
      status: 'expired',
      error: null,
    });
    expect(rig.upstream.changes().at(-1)).toMatchObject({
      method: 'DELETE',
      path: `${officialPath}/${rig.upstreamId}`,
    });
    expect(await remainingQuota(rig.gateway, token)).toBe(1000);
  });

  test('expires after two days by default', async () => {
    const day = 24 * 3_600_000;
    const id = await rig.create({}, genericPath);
    rig.taskState = { status: 'running' };
    await rig.pass(2 * day - 60_000);
    expect((await rig.send('GET', `${genericPath}/${id}`)).body).toMatchObject({
      data: { status: 'IN_PROGRESS' },
    });
    await rig.pass(120_000);
    expect((await rig.send('GET', `${genericPath}/${id}`)).body).toMatchObject({
      data: {
        status: 'FAILURE',
        fail_reason: expect.stringContaining('in time'),
        data: { status: 'expired' },
      },
    });
  });
});

describe('a deletion', () => {
  const deleteTask = (id: string, key?: string) => rig.send('DELETE', `${officialPath}/${id}`, key);
  const deletions = () => rig.upstream.seen.filter(({ method }) => method === 'DELETE');

  test('cancels a queued task upstream, and refunds it', async () => {
    const { key, id: token } = await makeKey(rig.gateway, { quota: 1000 });
    const id = await rig.create({}, officialPath, key);
    expect(await deleteTask(id, key)).toEqual({ status: 204, body: {} });
    expect(deletions().map(({ path }) => path)).toEqual([`${officialPath}/${rig.upstreamId}`]);
    expect(await remainingQuota(rig.gateway, token)).toBe(1000);
    expect((await ledgerRows(rig.gateway)).at(-1)).toMatchObject({ state: 'refunded', reserved: 50 });
    expect((await logRows(rig.gateway)).at(-1)).toMatchObject({ error_code: 'task_canceled', quota: 0 });
    const { body } = await rig.send('GET', `${officialPath}/${id}`, key);
    expect(body).toMatchObject({ status: 'cancelled', error: null });
    expect(await deleteTask(id, key)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request' } },
    });
  });

  test('does not stop a running task', async () => {
    const id = await rig.create();
    rig.taskState = { status: 'running' };
    await rig.poll(id);
    expect(await deleteTask(id)).toMatchObject({
      status: 400,
      body: { error: { code: 'task_not_completed' } },
    });
    expect(deletions()).toEqual([]);
  });

  test('does not stop a task that the upstream reports as running', async () => {
    const id = await rig.create();
    rig.overrides.set('DELETE', (_, response) =>
      sendJson(response, 400, { error: { code: 'InvalidParameter', message: `${rig.upstreamId} runs` } }),
    );
    expect(await deleteTask(id)).toMatchObject({
      status: 400,
      body: { error: { code: 'task_not_completed' } },
    });
    expect((await rig.send('GET', `${officialPath}/${id}`)).body.status).toBe('queued');
  });

  test('reports a missing response of the upstream, and keeps the task', async () => {
    const id = await rig.create();
    rig.overrides.set('DELETE', (_, response) => response.destroy());
    expect(await deleteTask(id)).toMatchObject({ status: 502 });
    expect((await rig.send('GET', `${officialPath}/${id}`)).body.status).toBe('queued');
  });

  test.each<[string, object]>([
    ['succeeded', finished],
    ['failed', { status: 'failed', error: failure }],
    ['expired', { status: 'expired' }],
  ])('deletes a task that has %s, but not its charge', async (_, upstreamState) => {
    const id = await rig.create();
    rig.taskState = upstreamState;
    await rig.poll(id);
    const ledgerBefore = await ledgerRows(rig.gateway);
    expect((await deleteTask(id)).status).toBe(204);
    expect((await rig.send('GET', `${officialPath}/${id}`)).status).toBe(404);
    expect((await deleteTask(id)).status).toBe(404);
    expect(deletions()).toEqual([]);
    expect(await ledgerRows(rig.gateway)).toEqual(ledgerBefore);
  });
});
