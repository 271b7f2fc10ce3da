import { describe, expect, test, vi } from 'vitest';
import { Receiver } from '../deliveries/receiver.ts';
import { ledgerRows, makeKey, remainingQuota } from '../server/ledger.ts';
import { recordTaskCode } from '../support/recorded-errors.ts';
import {
  button,
  finished,
  gridUrl,
  type ImageRig,
  inpaint,
  sendJson,
  useImageRig,
} from './image-provider.ts';

const mask = 'data:image/png;base64,iVBORw0KGgo=';
/** Also enough on a busy machine. */
const patience = { timeout: 10_000, interval: 10 };
const imageData = 'data:image/jpeg;base64,/9j/4AAQ';

describe('image jobs', () => {
  const rig = useImageRig();

  describe('imagine', () => {
    test('forwards the request without the fields of the gateway', async () => {
      const body = { prompt: 'a harbour --ar 3:2', base64Array: [imageData], botType: 'NIJI_JOURNEY' };
      await rig.imagine({ ...body, notifyHook: 'http://127.0.0.1:1/hook', state: 'order 7' });
      expect(rig.sent('imagine')).toEqual([body]);
      expect(rig.upstream.seen[0]?.headers.authorization).toBe('Bearer upstream-key');
    });

    test('creates a job that is polled to its end and charged once', async () => {
      const { key, id: token } = await makeKey(rig.gateway, { quota: 25 });
      const id = await rig.imagine({ state: 'order 7' }, key);
      expect(id).toMatch(/^task_[0-9a-f]{32}$/);
      expect(await remainingQuota(rig.gateway, token)).toBe(15);
      expect(await rig.query(id, key)).toMatchObject({
        id,
        action: 'IMAGINE',
        status: 'SUBMITTED',
        progress: '0%',
        prompt: 'a harbour',
        state: 'order 7',
        imageUrl: null,
        buttons: [],
        startTime: 0,
        finishTime: 0,
      });
      const half = { status: 'IN_PROGRESS', progress: '46%', imageUrl: 'https://files.example/half.png' };
      rig.reported = { ...half, buttons: [button] };
      expect(await rig.query(id, key)).toMatchObject({
        status: 'IN_PROGRESS',
        progress: '46%',
        imageUrl: 'https://files.example/half.png',
        buttons: [],
      });
      rig.reported = finished;
      const done = await rig.query(id, key);
      expect(done).toMatchObject({ ...finished, id, state: 'order 7', failReason: null, customId: null });
      expect(done.finishTime).toBeGreaterThan(done.submitTime as number);
      await rig.pass(600_000);
      expect(await remainingQuota(rig.gateway, token)).toBe(15);
      expect((await ledgerRows(rig.gateway)).at(-1)).toMatchObject({ state: 'settled', charged: 10 });
      expect(JSON.stringify(done)).not.toContain(rig.upstreamId);
    });

    test('returns code 22 of the provider without its account', async () => {
      rig.submitted = { code: 22, description: 'x', properties: { numberOfQueues: 3, instanceId: 'acc-7' } };
      const { body } = await rig.submit('imagine', { prompt: 'a harbour' });
      expect(body).toEqual({
        code: 22,
        description: 'In queue',
        result: expect.stringMatching(/^task_/),
        properties: { numberOfQueues: 3 },
      });
    });

    test('returns code 21 for a repeated job', async () => {
      rig.submitted = { code: 21, description: 'exists', result: '17950000009999' };
      const { body } = await rig.submit('imagine', { prompt: 'a harbour' });
      expect(body).toMatchObject({ code: 21, properties: {} });
      rig.reported = finished;
      expect(await rig.query(body.result as string)).toMatchObject({ status: 'SUCCESS' });
    });

    test('returns the same job and response for the same idempotency key', async () => {
      rig.submitted = { code: 22, properties: { numberOfQueues: 1 } };
      const headers = { 'idempotency-key': 'images-1' };
      const first = await rig.submit('imagine', { prompt: 'a harbour' }, { headers });
      rig.reported = finished;
      await rig.query(first.body.result as string);
      expect(await rig.submit('imagine', { prompt: 'a harbour' }, { headers })).toEqual(first);
      const other = await rig.submit('imagine', { prompt: 'a forest' }, { headers });
      expect(other).toMatchObject({ status: 400, body: { error: { code: 'idempotency_key_reused' } } });
      expect(rig.sent('imagine')).toHaveLength(1);
    });

    test.each([
      [{ code: 4, description: 'wrong state' }, 400, 'bad_request', 'wrong state'],
      [{ code: 9, description: 'at db-7.internal' }, 502, 'bad_response_status_code', undefined],
      [{ code: 23 }, 429, 'rate_limit_exceeded', undefined],
      [
        { code: 24, properties: { bannedWord: 'blood' } },
        400,
        'banned_word',
        'prompt: the provider takes no prompt with the word "blood".',
      ],
      [{ result: '' }, 502, 'bad_response', undefined],
    ])('maps the response %o to %i %s and charges nothing', async (submitted, status, code, message) => {
      const { key, id } = await makeKey(rig.gateway, { quota: 10 });
      rig.submitted = { result: undefined, description: undefined, ...submitted };
      const answer = await rig.submit('imagine', { prompt: 'a harbour' }, { key });
      expect(answer).toMatchObject({ status, body: { error: { code, ...(message && { message }) } } });
      expect(JSON.stringify(answer.body)).not.toContain('db-7');
      expect(await remainingQuota(rig.gateway, id)).toBe(10);
    });

    test('without quota sends no request to a provider', async () => {
      const { key } = await makeKey(rig.gateway, { quota: 9 });
      const answer = await rig.submit('imagine', { prompt: 'a harbour' }, { key });
      expect(answer).toMatchObject({ status: 403, body: { error: { code: 'insufficient_user_quota' } } });
      expect(rig.upstream.seen).toEqual([]);
    });
  });

  describe('a poll', () => {
    const failures: [string, unknown, string][] = [
      [
        'FAILURE with a reason',
        { status: 'FAILURE', failReason: 'The prompt was refused.' },
        'The prompt was refused.',
      ],
      ['CANCEL', { status: 'CANCEL' }, 'The task was canceled before it began.'],
    ];
    test.each(failures)(
      'that returns %s fails the job and refunds the quota',
      async (_, reported, reason) => {
        const { key, id: token } = await makeKey(rig.gateway, { quota: 10 });
        const id = await rig.imagine({}, key);
        rig.reported = reported;
        expect(await rig.query(id, key)).toMatchObject({
          status: 'FAILURE',
          failReason: reason,
          buttons: [],
        });
        expect(await remainingQuota(rig.gateway, token)).toBe(10);
        const row = await rig.gateway.gateway.store.read
          .selectFrom('tasks')
          .select('error_code')
          .where('id', '=', id)
          .executeTakeFirstOrThrow();
        recordTaskCode(row.error_code);
      },
    );

    test('that repeatedly returns no job fails it and refunds the quota', async () => {
      const { key, id: token } = await makeKey(rig.gateway, { quota: 10 });
      const id = await rig.imagine({}, key);
      rig.reported = '';
      expect(await rig.query(id, key)).toMatchObject({ status: 'SUBMITTED' });
      // The gateway also polls by itself.
      for (let polls = 1; polls < 20; polls += 1) {
        await rig.pass(60_000);
        await rig.query(id, key);
      }
      expect(await rig.query(id, key)).toMatchObject({
        status: 'FAILURE',
        failReason: 'The provider no longer has the task.',
      });
      expect(await remainingQuota(rig.gateway, token)).toBe(10);
    });

    test.each([
      ['invalid JSON', '{"status":'],
      ['an unknown state', { status: 'THINKING' }],
      ['an empty body', ''],
      ['null', 'null'],
    ])('that returns %s changes nothing', async (_, reported) => {
      const id = await rig.imagine();
      rig.reported = reported;
      expect(await rig.query(id)).toMatchObject({ status: 'SUBMITTED' });
      rig.reported = finished;
      await rig.pass(60_000);
      expect(await rig.query(id)).toMatchObject({ status: 'SUCCESS' });
    });

    test('redacts URLs of the provider in texts, but not those of the request', async () => {
      const mine = 'a harbour as in https://shop.example.com/a.png';
      const id = await rig.imagine({ prompt: mine });
      const given = `https://cdn.vendor.com/7.png ${mine}`;
      rig.reported = { ...finished, prompt: given, promptEn: given, properties: { finalPrompt: given } };
      const job = await rig.query(id);
      expect([job.prompt, job.promptEn, job.properties]).toEqual([
        `*** ${mine}`,
        `*** ${mine}`,
        { finalPrompt: `*** ${mine}` },
      ]);
    });
  });

  describe('an action', () => {
    test('is sent for the provider’s job and creates another job', async () => {
      const source = await rig.finish();
      const upstreamSource = rig.upstreamId;
      rig.reported = { status: 'SUBMITTED' };
      const { status, body } = await rig.submit('action', {
        taskId: source,
        customId: button.customId,
        accountFilter: { modes: ['FAST'] },
        state: 'order 8',
      });
      expect([status, body.code]).toEqual([200, 1]);
      expect(rig.sent('action')).toEqual([
        { taskId: upstreamSource, customId: button.customId, accountFilter: { modes: ['FAST'] } },
      ]);
      expect(body.result).not.toBe(source);
      expect(await rig.query(body.result as string)).toMatchObject({
        action: 'UPSCALE',
        customId: button.customId,
        prompt: 'a harbour',
        state: 'order 8',
      });
    });

    test.each([
      ['a button that the job does not show', { customId: 'IJ::JOB::upsample::1::other' }, 'customId'],
      ['an unknown job', { taskId: 'task_none' }, 'taskId', 404, 'resource_not_found'],
    ])('with %s is rejected', async (_, change, field, status = 400, code = 'invalid_request') => {
      const source = await rig.finish();
      const answer = await rig.submit('action', { taskId: source, customId: button.customId, ...change });
      expect(answer).toMatchObject({ status, body: { error: { code } } });
      expect((answer.body.error as { message: string }).message).toMatch(new RegExp(`^${field}: `));
      expect(rig.sent('action')).toEqual([]);
    });

    test('on an unfinished or failed job is rejected', async () => {
      const id = await rig.imagine();
      const body = { taskId: id, customId: button.customId };
      expect(await rig.submit('action', body)).toMatchObject({
        status: 400,
        body: { error: { code: 'task_not_completed' } },
      });
      rig.reported = { status: 'FAILURE' };
      await rig.query(id);
      expect(await rig.submit('action', body)).toMatchObject({
        status: 400,
        body: { error: { code: 'invalid_request' } },
      });
    });

    test('creates one job per idempotency key, also after the first job is deleted', async () => {
      const source = await rig.finish();
      const body = { taskId: source, customId: button.customId };
      const headers = { 'idempotency-key': 'an action' };
      const first = await rig.submit('action', body, { headers });
      expect(first.status).toBe(200);
      const { store } = rig.gateway.gateway;
      await store.run('removeTask', { id: source, userId: 1, format: 'image' });
      expect(await rig.submit('action', body, { headers })).toEqual(first);
      const gone = { status: 404, body: { error: { code: 'resource_not_found' } } };
      expect(await rig.submit('action', body)).toMatchObject(gone);
      expect(await rig.submit('action', { ...body, state: 'other' }, { headers })).toMatchObject(gone);
      expect(rig.sent('action')).toHaveLength(1);
    });

    test('on another user’s job returns 404', async () => {
      const source = await rig.finish();
      const { id: userId } = await rig.gateway.gateway.store.run('createUser', {
        name: 'other',
        group: 'default',
        now: 1,
      });
      const { key } = await makeKey(rig.gateway, { quota: 100, userId });
      const answer = await rig.submit('action', { taskId: source, customId: button.customId }, { key });
      expect(answer).toMatchObject({ status: 404, body: { error: { code: 'resource_not_found' } } });
      expect((await rig.get(source, key)).status).toBe(404);
    });
  });

  describe('a modal call', () => {
    /** Creates a job that waits for its modal call. */
    async function open(on: ImageRig, change: object = {}, key = on.gateway.key): Promise<string> {
      const source = await on.finish({}, key);
      on.submitted = { code: 21, properties: { finalPrompt: 'a harbour', remix: false } };
      const body = { taskId: source, customId: inpaint.customId, ...change };
      const answer = await on.submit('action', body, { key });
      expect(answer.body).toMatchObject({ code: 21, properties: { finalPrompt: 'a harbour', remix: false } });
      on.submitted = undefined;
      on.reported = { status: 'MODAL', progress: '0%' };
      return answer.body.result as string;
    }

    test('continues the waiting job', async () => {
      const { key, id: token } = await makeKey(rig.gateway, { quota: 20 });
      const id = await open(rig, { state: 'order 7' }, key);
      expect((await rig.get(id, key)).body).toMatchObject({ status: 'MODAL', action: 'INPAINT' });
      expect(await rig.query(id, key)).toMatchObject({ status: 'MODAL', state: 'order 7' });
      const requested = { taskId: id, prompt: 'a small red boat', maskBase64: mask };
      expect(await rig.submit('modal', { ...requested, state: 'order 8' }, { key })).toEqual({
        status: 200,
        body: { code: 1, description: 'Submit success', result: id, properties: {} },
      });
      expect(rig.sent('modal')).toEqual([{ ...requested, taskId: rig.upstreamId }]);
      rig.reported = { status: 'IN_PROGRESS', progress: '10%' };
      expect(await rig.query(id, key)).toMatchObject({
        status: 'IN_PROGRESS',
        state: 'order 8',
        prompt: 'a small red boat',
      });
      rig.reported = finished;
      expect(await rig.query(id, key)).toMatchObject({ status: 'SUCCESS', imageUrl: gridUrl });
      expect(await remainingQuota(rig.gateway, token)).toBe(0);
    });

    test('for a job that does not wait is rejected without a provider request', async () => {
      const id = await rig.imagine();
      const waiting = await open(rig);
      expect(
        await rig.submit('modal', { taskId: waiting, prompt: 'a boat', maskBase64: mask }),
      ).toMatchObject({
        status: 200,
      });
      rig.reported = { status: 'SUBMITTED' };
      for (const taskId of [id, waiting])
        expect(await rig.submit('modal', { taskId, prompt: 'a boat' })).toMatchObject({
          status: 400,
          body: { error: { code: 'invalid_request', message: expect.stringMatching(/^taskId: /) } },
        });
      expect(await rig.submit('modal', { taskId: 'task_none', prompt: 'a boat' })).toMatchObject({
        status: 404,
      });
      expect(rig.sent('modal')).toHaveLength(1);
    });

    test.each([
      [{ code: 4, description: 'The mask has another size.' }, 400, 'bad_request'],
      [{ code: 24, properties: { bannedWord: 'blood' } }, 400, 'banned_word'],
      [{ code: 23 }, 429, 'rate_limit_exceeded'],
    ])('rejected with %o leaves the job waiting', async (submitted, status, code) => {
      const id = await open(rig);
      rig.submitted = submitted;
      const body = { taskId: id, prompt: 'a boat', maskBase64: mask };
      expect(await rig.submit('modal', body)).toMatchObject({ status, body: { error: { code } } });
      rig.submitted = undefined;
      expect(await rig.query(id)).toMatchObject({ status: 'MODAL' });
      expect(await rig.submit('modal', body)).toMatchObject({ status: 200 });
    });

    test('that is never sent costs nothing', async () => {
      const { key, id: token } = await makeKey(rig.gateway, { quota: 20 });
      const id = await open(rig, {}, key);
      await rig.pass(24 * 3_600_000);
      expect(await rig.query(id, key)).toMatchObject({ status: 'FAILURE' });
      expect(await remainingQuota(rig.gateway, token)).toBe(10);
    });

    test('whose response is lost is completed by the next poll', async () => {
      const id = await open(rig);
      rig.instead.set('POST', (_, response) => response.destroy());
      expect(await rig.submit('modal', { taskId: id, prompt: 'a boat', state: 'order 9' })).toMatchObject({
        status: 502,
      });
      rig.instead.clear();
      rig.reported = finished;
      expect(await rig.query(id)).toMatchObject({ status: 'SUCCESS', state: 'order 9' });
    });

    test('discards the result of a concurrent poll', async () => {
      const id = await open(rig);
      let answerPoll = (): void => {};
      rig.instead.set('GET', (_, response) => {
        answerPoll = () => sendJson(response, { status: 'MODAL' });
      });
      const polled = rig.pass(60_000);
      await vi.waitFor(() => expect(rig.upstream.seen.at(-1)?.method).toBe('GET'), patience);
      await rig.submit('modal', { taskId: id, prompt: 'a boat' });
      answerPoll();
      await polled;
      rig.instead.clear();
      const { waiting } = (await rig.gateway.gateway.store.read
        .selectFrom('tasks')
        .select('result')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
        .then(({ result }) => JSON.parse(result ?? '{}'))) as { waiting?: boolean };
      expect(waiting).toBeUndefined();
    });
  });

  test('the list contains each of the caller’s jobs once', async () => {
    const ids = [await rig.imagine(), await rig.imagine()];
    const answer = await fetch(`${rig.gateway.url}/imgjob/task/list-by-condition`, {
      method: 'POST',
      headers: { authorization: `Bearer ${rig.gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ids: [...ids, ids[0], 'task_none'] }),
    });
    const jobs = (await answer.json()) as { id: string }[];
    expect(jobs.map(({ id }) => id)).toEqual(ids);
  });

  test('callbacks report each later state in order, to the URL of the modal call', async () => {
    const receiver = await Receiver.start();
    try {
      const source = await rig.finish({ notifyHook: receiver.url('/first'), state: 'order 7' });
      await vi.waitFor(() => expect(receiver.seen).toHaveLength(1), patience);
      expect(receiver.seen[0]?.body).toEqual((await rig.get(source)).body);
      rig.submitted = { code: 21 };
      const action = { taskId: source, customId: inpaint.customId, notifyHook: receiver.url('/action') };
      const { body } = await rig.submit('action', action);
      rig.submitted = undefined;
      await rig.submit('modal', {
        taskId: body.result,
        prompt: 'a boat',
        notifyHook: receiver.url('/modal'),
        state: 'order 8',
      });
      rig.reported = { status: 'IN_PROGRESS', progress: '20%' };
      await rig.query(body.result as string);
      rig.reported = finished;
      await rig.query(body.result as string);
      // The advanced clock ends leases too early. A repeated delivery has the same id.
      const deliveries = () => [...new Map(receiver.seen.map((one) => [one.id, one])).values()];
      await vi.waitFor(() => expect(deliveries()).toHaveLength(3), patience);
      expect(deliveries().map(({ path, body }) => [path, body.status, body.state])).toEqual([
        ['/first', 'SUCCESS', 'order 7'],
        ['/modal', 'IN_PROGRESS', 'order 8'],
        ['/modal', 'SUCCESS', 'order 8'],
      ]);
    } finally {
      await receiver.close();
    }
  });
});
