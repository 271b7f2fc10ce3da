import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import { expectBalanced, ledgerRows, logRows } from '../store/books.ts';
import { engines, Place } from '../store/engines.ts';
import { openNode, RATE } from './node.ts';
import type { ChildOptions } from './node-child.ts';
import { SECONDS, TaskUpstream } from './task-upstream.ts';

const CHILD = fileURLToPath(new URL('./node-child.ts', import.meta.url));
const QUOTA = 10_000;
const prompts = ['ok', 'hold', 'fail', 'ok'];
const points = [
  'submit:reserved',
  'submit:answered',
  'submit:accepted',
  'poll:claimed',
  'poll:answered',
  'poll:recorded',
  'settle:before',
  'settle:between',
  'settle:after',
  'cancel:answered',
];

describe.each(engines)('a gateway killed on %s', (engine) => {
  let place: Place;
  let upstream: TaskUpstream | undefined;
  beforeEach(async () => {
    place = await Place.make(engine);
  });
  afterEach(async () => {
    await upstream?.close();
    await place.remove();
  });

  /** Runs a gateway until it dies at the point. Gives what it had acknowledged. */
  async function runAndDie(point: string, options: ChildOptions) {
    const child = spawn(process.execPath, [CHILD, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, FAULT_POINT: point },
    });
    const exited = once(child, 'exit');
    const told: string[][] = [];
    for await (const line of createInterface({ input: child.stdout })) told.push(line.split(' '));
    expect(await exited).toEqual([null, 'SIGKILL']);
    const named = (what: string) => told.filter(([word]) => word === what).map(([, id = '']) => id);
    const [, id, userId] = told[0] ?? [];
    return {
      token: { id: Number(id), userId: Number(userId) },
      submitted: named('submitted'),
      canceled: named('canceled'),
    };
  }

  async function killAt(point: string, resubmitSafe: boolean) {
    upstream = await TaskUpstream.start(resubmitSafe);
    const { url: upstreamUrl } = upstream;
    const options = { name: 'first', upstreamUrl, resubmitSafe };
    const told = await runAndDie(point, { ...options, store: place.options, quota: QUOTA, prompts });
    const { token } = told;
    const store = await place.open();
    // A minute later, so that the leases of the dead are over on either engine.
    const node = openNode(store, { ...options, name: 'second', token }, () => Date.now() + 60_000);
    await node.tasks.start();
    const list = () => store.read.selectFrom('tasks').selectAll().execute();
    await vi.waitFor(
      async () => {
        for (const task of await list()) {
          if (task.completed_at !== null) continue;
          if (task.upstream_id !== null && task.facts.includes('hold')) {
            await node.tasks.cancel({ id: task.id, userId: token.userId, format: 'videos' });
          }
          expect(task.completed_at).not.toBeNull();
        }
      },
      { timeout: 15_000, interval: 20 },
    );
    await node.close();
    return { ...told, store, tasks: await list(), upstream };
  }

  async function expectRight({
    store,
    tasks,
    token,
    upstream: served,
    ...told
  }: Awaited<ReturnType<typeof killAt>>) {
    // Nothing is doubled upstream, and nothing that was told is lost.
    const keys = [...served.tasks.values()].map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(tasks.map(({ id }) => id)).toEqual(expect.arrayContaining(told.submitted));
    for (const id of told.canceled) {
      expect(tasks.find((task) => task.id === id)).toMatchObject({ error_code: 'task_canceled' });
    }
    // Every unit of quota is accounted for, once.
    const ledger = await ledgerRows(store);
    const charge = (task: { state: string }) => (task.state === 'completed' ? SECONDS * RATE : null);
    expect(ledger.map((row) => [row.request_id, row.state, row.charged])).toEqual(
      tasks
        .toSorted((left, right) => (left.request_id < right.request_id ? -1 : 1))
        .map((task) => [task.request_id, task.state === 'completed' ? 'settled' : 'refunded', charge(task)]),
    );
    const logged = (await logRows(store)).map((row) => row.request_id).toSorted();
    expect(logged).toEqual(tasks.map((task) => task.request_id).toSorted());
    await expectBalanced(store, { ...token, unlimitedQuota: false, remainQuota: QUOTA } as TokenRecord);
  }

  test.each(points)('at %s: everything ends as it would have', { timeout: 60_000 }, async (point) => {
    const outcome = await killAt(point, true);
    await expectRight(outcome);
    for (const { facts, state, error_code } of outcome.tasks) {
      const { prompt } = JSON.parse(facts) as { prompt: string };
      const expected = { ok: ['completed', null], fail: ['failed', 'no'], hold: ['failed', 'task_canceled'] }[
        prompt
      ];
      expect([state, error_code]).toEqual(expected);
    }
    expect(outcome.tasks.length).toBeGreaterThan(0);
  });

  test.each(points.slice(0, 3))(
    'at %s, with an upstream that cannot be asked twice: it is not',
    { timeout: 60_000 },
    async (point) => {
      const outcome = await killAt(point, false);
      await expectRight(outcome);
      expect(Math.max(0, ...outcome.upstream.submitted.values())).toBeLessThan(2);
      const interrupted = outcome.tasks.filter(({ error_code }) => error_code === 'submission_interrupted');
      expect(interrupted.length).toBeGreaterThan(point === 'submit:accepted' ? -1 : 0);
      for (const { id } of interrupted) expect(outcome.submitted).not.toContain(id);
    },
  );
});
