import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../server/tasks/driver.ts';
import type { Tasks } from '../../server/tasks/tasks.ts';
import { engines } from '../store/engines.ts';
import { TaskHarness } from './harness.ts';

const perChannel = 60;
const running: Snapshot = { state: 'in_progress', progress: 1 };

// SQLite never has three gateways, but the store does not depend on that.
describe.each(engines)('three pollers on %s', (engine) => {
  let rig: TaskHarness;
  TaskHarness.eachTest(engine, (made) => {
    rig = made;
  });

  test('poll each task once a round, and the others take over the tasks of a lost one', async () => {
    const polledBy = new Map<string, string[]>();
    const pending: ((snapshot: Snapshot) => void)[] = [];
    let lostPoller = '';
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
                // A lost poller never responds.
                return owner === lostPoller
                  ? new Promise<Snapshot>((resolve) => void pending.push(resolve))
                  : Promise.resolve(running);
              },
            },
          ],
        ]),
        // Few enough that no poller can claim all.
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
    const claimed = await Promise.all([left, middle, right].map((poller) => poller.runDue()));
    expect(claimed.reduce((sum, count) => sum + count, 0)).toBe(2 * perChannel);
    expect(times()).toEqual(ids.map(() => 1));

    lostPoller = 'left';
    rig.clock.jump(2_000);
    const lost = left.runDue();
    await rig.settled();
    const claimedByLost = [...polledBy].flatMap(([id, by]) => (by.length === 2 ? id : []));
    expect(claimedByLost.length).toBeGreaterThan(0);
    await Promise.all([middle.runDue(), right.runDue()]);
    expect(times()).toEqual(ids.map(() => 2));

    // The claims of the others have not expired, and those of the lost one are due after its removal.
    await rig.store.run('removeGateway', { id: 'left', heartbeat: 0 });
    expect(await rig.releaseOrphans()).toBe(claimedByLost.length);
    await Promise.all([middle.runDue(), right.runDue()]);
    expect([...polledBy].flatMap(([id, by]) => (by.length === 3 ? id : [])).toSorted()).toEqual(
      claimedByLost.toSorted(),
    );
    for (const id of claimedByLost) expect(polledBy.get(id)?.at(-1)).not.toBe('left');

    // Its late results are not recorded.
    for (const end of pending) end({ state: 'completed', result: {} });
    await lost;
    const rows = await rig.store.read.selectFrom('tasks').select('state').distinct().execute();
    expect(rows).toEqual([{ state: 'in_progress' }]);
  });
});
