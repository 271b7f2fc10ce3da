import { describe, expect, test, vi } from 'vitest';
import { StoreUnavailable } from '../../server/store/availability.ts';
import type { CommandName } from '../../server/store/commands/registry.ts';
import type { Store } from '../../server/store/store.ts';
import { done, Outbox } from '../deliveries/outbox.ts';
import { Receiver } from '../deliveries/receiver.ts';
import { engines } from '../store/engines.ts';
import { TaskHarness } from './harness.ts';
import { driverError } from './scripted-driver.ts';

/** Makes the first call of each command fail with StoreUnavailable. */
function failFirst(store: Store, ...names: CommandName[]): Store {
  const failing = new Set(names);
  return {
    ...store,
    run: (name, args) =>
      failing.delete(name) ? Promise.reject(new StoreUnavailable(new Error(name))) : store.run(name, args),
  };
}

describe.each(engines)('tasks on %s, while the store is unavailable', (engine) => {
  let rig: TaskHarness;
  TaskHarness.eachTest(engine, (made) => {
    rig = made;
  });

  test('are refused before any request to a provider', async () => {
    const tasks = rig.engine({ store: failFirst(rig.store, 'createTask') });
    await expect(tasks.submit(rig.order())).rejects.toMatchObject({ status: 503, code: 'store_unavailable' });
    expect(rig.driver.submitted).toEqual([]);
    await rig.expectBalance({});
  });

  test('are created, polled and charged once', async () => {
    const tasks = rig.engine({
      store: failFirst(rig.store, 'markSubmitted', 'acceptTask', 'recordPolls', 'finishTask'),
    });
    rig.driver.onSubmit = (task, { channel }) => {
      if (channel.name === 'one') throw driverError('retryable');
      return rig.driver.make(task);
    };
    const channels = [rig.channel('one'), rig.channel('two')];
    const { task } = await tasks.submit(rig.order({ channels }));
    expect(task).toMatchObject({ channel: 'two', upstreamId: 'up-1' });
    rig.driver.onPoll = () => ({ state: 'in_progress', progress: 10 });
    await rig.step(1_000, tasks);
    expect(await rig.stored(task)).toMatchObject({ state: 'in_progress', progress: 10 });
    rig.driver.onPoll = () => done;
    await rig.step(60_000, tasks);
    expect(await rig.stored(task)).toMatchObject({ state: 'completed' });
    expect([rig.driver.submitted.length, rig.driver.polled.length]).toEqual([2, 2]);
    await rig.expectBalance({ charged: 40 });
  });

  test('that a provider refuses leave no row', async () => {
    const tasks = rig.engine({ store: failFirst(rig.store, 'dropTask') });
    rig.driver.onSubmit = () => {
      throw driverError('rejected');
    };
    await expect(tasks.submit(rig.order())).rejects.toMatchObject({ status: 415 });
    expect(await rig.reservations()).toMatchObject([{ state: 'refunded' }]);
    await rig.expectBalance({});
  });

  test('are claimed again, and reported once', async () => {
    const receiver = await Receiver.start();
    const outbox = new Outbox(rig, { store: failFirst(rig.store, 'claimDeliveries', 'recordDelivery') });
    const tasks = rig.engine({ store: failFirst(rig.store, 'claimTasks') });
    const task = await outbox.submit(receiver.url('/hook'));
    rig.driver.onPoll = () => done;
    await Promise.all([tasks.start(), outbox.deliveries.start()]);
    await vi.waitFor(
      async () => {
        await rig.advance(1_000);
        expect(await rig.stored(task)).toMatchObject({ state: 'completed' });
        expect((await outbox.rows()).map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered']);
      },
      { timeout: 15_000, interval: 20 },
    );
    expect(receiver.seen.map(({ body }) => body.status)).toEqual(['queued', 'succeeded']);
    expect(outbox.log).toEqual([]);
    await Promise.all([tasks.stop(0), outbox.close(), receiver.close()]);
  });
});
