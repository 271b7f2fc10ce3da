import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../server/tasks/driver.ts';
import type { Tasks } from '../../server/tasks/tasks.ts';
import { engines } from '../store/engines.ts';
import { TaskHarness } from './harness.ts';

const perChannel = 60;
const running: Snapshot = { state: 'in_progress', progress: 1 };

// On SQLite there are never three gateways, but the store does not know that.
describe.each(engines)('three pollers on %s', (engine) => {
  let rig: TaskHarness;
  TaskHarness.eachTest(engine, (made) => {
    rig = made;
  });

  test('poll each task once a round, and those of one that is gone go on with the others at once', async () => {
    const polledBy = new Map<string, string[]>();
    const stuck: ((snapshot: Snapshot) => void)[] = [];
    let gone = '';
    const pollerOf = (owner: string): Tasks =>
      rig.engine({
        owner,
        drivers: new Map([
          [
            'scripted',
            {
              submit: (task) => Promise.resolve(rig.driver.make(task)),
              poll: ({ id }) => {
                polledBy.set(id, [...(polledBy.get(id) ?? []), owner]);
                // From one that is gone nothing more is heard.
                return owner === gone
                  ? new Promise<Snapshot>((resolve) => void stuck.push(resolve))
                  : Promise.resolve(running);
              },
            },
          ],
        ]),
        // So few that no poller can take all.
        pollsPerChannel: perChannel,
      });
    const names = ['left', 'middle', 'right'];
    for (const id of names) await rig.store.run('recordHeartbeat', { id, heartbeat: 0 });
    const [left, middle, right] = names.map(pollerOf) as [Tasks, Tasks, Tasks];
    const ids = await Promise.all(
      Array.from({ length: 2 * perChannel }, async (_, index) => {
        const channel = rig.channel(index % 2 === 0 ? 'one' : 'two');
        return (await rig.submit({ channels: [channel] })).id;
      }),
    );
    const times = () => ids.map((id) => (polledBy.get(id) ?? []).length);

    rig.clock.jump(1_000);
    const taken = await Promise.all([left, middle, right].map((poller) => poller.runDue()));
    expect(taken.reduce((sum, count) => sum + count, 0)).toBe(2 * perChannel);
    expect(times()).toEqual(ids.map(() => 1));

    gone = 'left';
    rig.clock.jump(2_000);
    const lost = left.runDue();
    await rig.settled();
    const itsOwn = [...polledBy].flatMap(([id, by]) => (by.length === 2 ? id : []));
    expect(itsOwn.length).toBeGreaterThan(0);
    await Promise.all([middle.runDue(), right.runDue()]);
    expect(times()).toEqual(ids.map(() => 2));

    // Those of the others are not late, and its own are due as soon as it is found gone.
    await rig.store.run('removeGateway', { id: 'left', heartbeat: 0 });
    expect(await rig.releaseOrphans()).toBe(itsOwn.length);
    await Promise.all([middle.runDue(), right.runDue()]);
    expect([...polledBy].flatMap(([id, by]) => (by.length === 3 ? id : [])).toSorted()).toEqual(
      itsOwn.toSorted(),
    );
    for (const id of itsOwn) expect(polledBy.get(id)?.at(-1)).not.toBe('left');

    // What it finds out late is not written any more.
    for (const end of stuck) end({ state: 'completed', result: {} });
    await lost;
    const rows = await rig.store.read.selectFrom('tasks').select('state').distinct().execute();
    expect(rows).toEqual([{ state: 'in_progress' }]);
  });
});
