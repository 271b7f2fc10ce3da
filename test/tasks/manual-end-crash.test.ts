import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { engines, TestStore } from '../store/engines.ts';
import { Child } from './child.ts';
import { changeOf, manualEnd, openNode } from './node.ts';
import { expectConsistent, taskRows } from './task-audit.ts';
import { TaskUpstream } from './task-upstream.ts';

const startQuota = 10_000;

describe.each(engines)('a gateway killed while an operator ends tasks on %s', (engine) => {
  let testStore: TestStore;
  let upstream: TaskUpstream;
  beforeEach(async () => {
    testStore = await TestStore.make(engine);
    upstream = await TaskUpstream.start();
  });
  afterEach(async () => {
    await upstream.close();
    await testStore.remove();
  });

  test.each(['settle:before', 'settle:between', 'settle:after', 'cancel:answered'])(
    'at %s: each task ends once, and the change is recorded',
    { timeout: 60_000 },
    async (point) => {
      const options = { name: 'first', upstreamUrl: upstream.url };
      const prompts = point === 'cancel:answered' ? ['hold', 'hold'] : ['late', 'late', 'late'];
      const first = { ...options, store: testStore.options, quota: startQuota, prompts, manual: true };
      const child = new Child(first, point);
      expect(await child.ended()).toEqual([null, 'SIGKILL']);
      const { token } = child;
      const store = await testStore.open();
      const changes = async () => {
        const rows = await store.read.selectFrom('changes').selectAll().orderBy('id').execute();
        return rows.map(({ subject, details }) => [subject.replace('task ', ''), details]);
      };
      const rows = await taskRows(store);
      const ended = rows.filter(({ completed_at }) => completed_at !== null).map(({ id }) => id);
      const recorded = (await changes()).filter(([, details]) => details === '{}').map(([id]) => id);
      // The end and its record are one transaction.
      expect(recorded).toHaveLength(ended.length);
      expect(recorded).toEqual(expect.arrayContaining(ended));
      expect(ended).toEqual(expect.arrayContaining(child.idsOf('manual')));
      const node = openNode(store, { ...options, name: 'second', token, heartbeat: { intervalMs: 20 } });
      await node.start();
      for (const { id, facts } of rows) {
        if (ended.includes(id) || facts.includes('hold')) continue;
        await node.tasks.endManually(id, () => ({ end: manualEnd, change: changeOf(id) }));
      }
      const finish = async () => {
        const open = (await taskRows(store)).filter(({ completed_at }) => completed_at === null);
        for (const { id, upstream_id } of open)
          if (upstream_id !== null) await node.tasks.cancelAny(id, changeOf(id)).catch(() => {});
        expect(open).toEqual([]);
      };
      await vi.waitFor(finish, { timeout: 30_000, interval: 20 });
      await node.close();
      await expectConsistent(store, upstream, token, startQuota);
      for (const { id, error_code, facts } of await taskRows(store)) {
        const details = (await changes()).filter(([subject]) => subject === id).map(([, text]) => text);
        if (error_code === 'submission_interrupted') expect(details).toEqual([]);
        // The cancellation at the provider was recorded before the gateway was killed.
        else if (facts.includes('hold')) expect(details).toContain('{"asked":"one"}');
        else expect(details).toEqual(['{}']);
      }
    },
  );
});
