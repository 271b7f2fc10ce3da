import { describe, expect, test, vi } from 'vitest';
import type { Submission } from '../../server/tasks/driver.ts';
import type { TaskCreation } from '../../server/tasks/task-creation.ts';
import { engines, onServer } from '../store/engines.ts';
import { makeToken } from '../store/ledger.ts';
import { TaskHarness } from './harness.ts';
import { driverError } from './scripted-driver.ts';

const tenMinutes = 600_000;

describe.each(engines)('retries of an SDK on %s', (engine) => {
  let rig: TaskHarness;
  TaskHarness.eachTest(engine, (made) => {
    rig = made;
  });

  /** Submits a request with a retry count. Returns the id of its task. */
  const send = async (retryCount: number | undefined, change: Partial<TaskCreation> = {}) =>
    (await rig.submit({ ...(retryCount !== undefined && { retryCount }), ...change })).id;
  const rows = () => rig.store.read.selectFrom('tasks').selectAll().execute();

  test('a retry returns the task of the first attempt, which is charged once', async () => {
    const { task } = await rig.tasks.submit(rig.order({ retryCount: 0 }));
    for (const retryCount of [1, 2, 5])
      expect(await rig.tasks.submit(rig.order({ retryCount }))).toEqual({ task, replayed: true });
    expect(await rows()).toMatchObject([{ id: task.id, retry_count: 5, idempotency_key: null }]);
    expect(rig.driver.submitted).toHaveLength(1);
    await rig.expectBalance({ reserved: 50 });
  });

  test('first attempts never share a task', async () => {
    expect(new Set([await send(0), await send(0), await send(undefined)]).size).toBe(3);
    await rig.expectBalance({ reserved: 150 });
  });

  test('the same retry count belongs to another chain, which gets its own task', async () => {
    const first = await send(0);
    expect(await send(1)).toBe(first);
    const other = await send(1);
    expect(other).not.toBe(first);
    // Each chain continues with a task that has answered fewer retries.
    expect(new Set([await send(2), await send(2)])).toEqual(new Set([first, other]));
    const third = await send(2);
    expect([first, other]).not.toContain(third);
    await rig.expectBalance({ reserved: 150 });
  });

  test('two chains are answered with one task each, the newest first', async () => {
    const older = await send(0);
    rig.clock.jump(1);
    const newer = await send(0);
    expect([await send(1), await send(1)]).toEqual([newer, older]);
    // The chain that has come furthest continues before newer ones.
    expect(await send(2)).toBe(newer);
    rig.clock.jump(1);
    await send(0);
    expect(await send(3)).toBe(newer);
  });

  test.each<[string, Partial<TaskCreation>]>([
    ['body', { request: { prompt: 'a ship' } }],
    ['option', { facts: { seconds: '6' } }],
    ['model', { model: { id: 'gamma3.0-video-prime', unit: 'seconds' } }],
    ['operation', { operation: 'createGenericVideo', format: 'generic' }],
    ['callback', { callbackUrl: 'https://client.example/hook' }],
  ])('a retry with another %s creates a task', async (_, change) => {
    const first = await send(0);
    expect(await send(1, change)).not.toBe(first);
    expect(await send(1)).toBe(first);
    await rig.expectBalance({ reserved: 100 });
  });

  test('a retry with another API key creates a task, also of the same user', async () => {
    const first = await send(0);
    const { userId } = rig.token;
    const { id: tokenId } = await makeToken(rig.store, { remainQuota: 1_000, userId });
    const { caller } = rig.order();
    expect(await send(1, { caller: { ...caller, tokenId } })).not.toBe(first);
  });

  test('a task answers retries for 10 minutes', async () => {
    const first = await send(0);
    rig.clock.jump(tenMinutes - 1);
    expect(await send(1)).toBe(first);
    rig.clock.jump(1);
    expect(await send(2)).not.toBe(first);
  });

  test('a retry without an earlier task creates one, which answers later retries', async () => {
    const made = await rig.tasks.submit(rig.order({ retryCount: 1 }));
    expect(made.replayed).toBe(false);
    expect(await send(3)).toBe(made.task.id);
    expect(await send(1)).not.toBe(made.task.id);
  });

  test('a task whose request had no retry count answers no retry, and its request is not hashed', async () => {
    const plain = await send(undefined);
    expect(await rows()).toMatchObject([{ retry_count: null, fingerprint: null }]);
    expect(await send(1)).not.toBe(plain);
  });

  test('an idempotency key takes precedence', async () => {
    const first = await send(0);
    const keyed = await send(1, { idempotencyKey: 'k' });
    expect(keyed).not.toBe(first);
    expect(await send(1, { idempotencyKey: 'k' })).toBe(keyed);
    await expect(send(1, { idempotencyKey: 'k', request: {} })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    // The task of an idempotency key answers no retry without it.
    expect(await send(1)).toBe(first);
    expect(await send(1)).not.toBe(keyed);
  });

  test("a retry is recognized by the client's body if the driver request changes", async () => {
    const clientRequest = { prompt: 'one' };
    const order = rig.order({ retryCount: 0, clientRequest });
    const { task } = await rig.tasks.submit(order);
    const again = { ...order, request: {}, facts: {}, retryCount: 1 };
    expect(await rig.tasks.submit(again)).toEqual({ task, replayed: true });
    const name = { ...order, clientRequest };
    expect(await rig.tasks.findRepeated({ ...name, retryCount: 2 })).toEqual(task);
    for (const change of [
      { retryCount: 0 },
      { retryCount: 2 },
      { retryCount: 3, clientRequest: { prompt: 'two' } },
      { retryCount: 3, caller: { ...order.caller, tokenId: order.caller.tokenId + 1 } },
    ])
      expect(await rig.tasks.findRepeated({ ...name, ...change })).toBeUndefined();
  });

  test('a retry waits for the first attempt, in this process and in another one', async () => {
    const answer = Promise.withResolvers<Submission>();
    rig.driver.onSubmit = () => answer.promise;
    const first = rig.tasks.submit(rig.order({ retryCount: 0 }));
    await rig.settled();
    const retries = [rig.tasks, rig.engine()].map((tasks, index) =>
      tasks.submit(rig.order({ retryCount: index + 1 })),
    );
    await rig.settled();
    answer.resolve({ upstreamId: 'up' });
    await rig.advance(1_000);
    const { task } = await first;
    expect(await Promise.all(retries)).toEqual([
      { task, replayed: true },
      { task, replayed: true },
    ]);
    await rig.expectBalance({ reserved: 50 });
  });

  test('a retry creates a task if the first attempt was refused', async () => {
    rig.driver.onSubmit = () => {
      throw driverError('retryable');
    };
    await expect(send(0)).rejects.toMatchObject({ code: 'retryable' });
    rig.driver.onSubmit = (task) => rig.driver.make(task);
    expect((await rig.tasks.submit(rig.order({ retryCount: 1 }))).replayed).toBe(false);
    await rig.expectBalance({ reserved: 50 });
  });

  test('a task canceled during its submission answers no retry', async () => {
    const answer = Promise.withResolvers<Submission>();
    rig.driver.onSubmit = () => answer.promise;
    const first = send(0);
    await rig.settled();
    const [row] = await rows();
    await rig.tasks.cancel(rig.name({ id: row?.id ?? '' }));
    rig.driver.onSubmit = (task) => rig.driver.make(task);
    expect(await send(1)).not.toBe(row?.id);
    answer.resolve({ upstreamId: 'up-0' });
    expect(await first).toBe(row?.id);
    await rig.expectBalance({ reserved: 50 });
  });

  test('a submission that was interrupted answers a retry with its failure', async () => {
    rig.driver.onSubmit = () => new Promise(() => {});
    void rig.engine({ owner: 'gone' }).submit(rig.order({ retryCount: 0 }));
    await rig.settled();
    rig.driver.onSubmit = (task) => rig.driver.make(task);
    await rig.releaseOrphans();
    const { task } = await rig.tasks.submit(rig.order({ retryCount: 1 }));
    expect(task).toMatchObject({ state: 'failed', error: { code: 'submission_interrupted' } });
    expect(rig.driver.submitted).toHaveLength(1);
    await rig.expectBalance({});
  });

  test('a key without remaining quota gets the task of its first attempt', async () => {
    const first = await send(0, { expectedUnits: 10_000 });
    expect(await send(1, { expectedUnits: 10_000 })).toBe(first);
    await expect(send(1, { expectedUnits: 10_000 })).rejects.toMatchObject({
      code: 'insufficient_user_quota',
    });
  });

  test('concurrent retries of several chains get different tasks', async () => {
    const chains = 8;
    const made = await Promise.all(Array.from({ length: chains }, () => send(0)));
    const store = engine === 'postgres' ? await rig.testStore.open() : rig.store;
    const other = rig.engine({ store });
    const retried = await Promise.all(
      Array.from({ length: chains + 2 }, (_, index) =>
        (index % 2 === 0 ? rig.tasks : other).submit(rig.order({ retryCount: 1 })),
      ),
    );
    expect(new Set(retried.map(({ task }) => task.id)).size).toBe(chains + 2);
    const replayed = retried.filter((one) => one.replayed).map(({ task }) => task.id);
    expect(new Set(replayed)).toEqual(new Set(made));
    await rig.expectBalance({ reserved: 50 * (chains + 2) });
  });

  if (engine === 'postgres')
    test('a retry waits for the transaction of the previous retry on another gateway', async () => {
      const other = rig.engine({ store: await rig.testStore.open() });
      await onServer(async (client) => {
        await client.query(`set search_path = ${rig.testStore.options.schema}`);
        await client.query('begin');
        await client.query(`select 1 from tokens where id = ${rig.token.id} for update`);
        const blockedBy = async (pid: string): Promise<string | undefined> => {
          const sql = `select pid from pg_stat_activity where ${pid} = any (pg_blocking_pids(pid))`;
          const { rows: blocked } = await client.query<{ pid: number }>(sql);
          return blocked[0]?.pid.toString();
        };
        const first = rig.tasks.submit(rig.order({ retryCount: 1 }));
        const waiting = await vi.waitUntil(() => blockedBy('pg_backend_pid()'));
        const second = other.submit(rig.order({ retryCount: 2 }));
        await vi.waitUntil(() => blockedBy(waiting));
        await client.query('commit');
        await rig.settled();
        await rig.advance(1_000);
        const { task } = await first;
        expect(await second).toEqual({ task, replayed: true });
      });
      await rig.expectBalance({ reserved: 50 });
    });
});
