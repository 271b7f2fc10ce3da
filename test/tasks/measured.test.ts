import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { quotaCharged, quotaRefunded, quotaReserved, taskDuration } from '../../server/telemetry/metrics.ts';
import { TaskHarness } from './harness.ts';
import { driverError } from './scripted-driver.ts';

describe('what is measured of tasks', () => {
  let rig: TaskHarness;
  let told: (string | number)[][];
  let durations: unknown[][];
  TaskHarness.eachTest('sqlite', (made) => {
    rig = made;
  });
  beforeEach(() => {
    told = [];
    durations = [];
    const kinds = { held: quotaReserved, charged: quotaCharged, refunded: quotaRefunded };
    for (const [kind, counter] of Object.entries(kinds))
      vi.spyOn(counter, 'add').mockImplementation((quota, labels) => {
        expect(labels).toEqual({ 'unigate.model': 'gamma3.0-video' });
        if (quota > 0) told.push([kind, quota]);
      });
    vi.spyOn(taskDuration, 'record').mockImplementation((...value) => void durations.push(value));
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const duration = (seconds: number, state: string) => [
    seconds,
    { 'unigate.channel': 'one', 'unigate.task.driver': 'scripted', 'unigate.task.state': state },
  ];

  test('its quota is held, then charged as far as it was used, and the time to its end', async () => {
    await rig.submit();
    expect(told).toEqual([['held', 50]]);
    rig.driver.onPoll = () => ({ state: 'completed', result: {}, usage: { units: 3 } });
    await rig.step(2_500);
    expect(told.slice(1)).toEqual([
      ['charged', 30],
      ['refunded', 20],
    ]);
    expect(durations).toEqual([duration(2.5, 'completed')]);
  });

  test('one that fails gives all back, and counts as ended', async () => {
    await rig.submit();
    rig.driver.onPoll = () => ({ state: 'failed', error: { code: 'no', message: 'No.' } });
    await rig.step(4_000);
    expect(told.slice(1)).toEqual([['refunded', 50]]);
    expect(durations).toEqual([duration(4, 'failed')]);
  });

  test('one that no provider takes gives all back, and was none', async () => {
    rig.driver.onSubmit = () => {
      throw driverError('rejected');
    };
    await expect(rig.submit()).rejects.toThrow();
    expect(told).toEqual([
      ['held', 50],
      ['refunded', 50],
    ]);
    expect(durations).toEqual([]);
  });

  test('one that is ended while a provider refuses it is given back once', async () => {
    rig.driver.onSubmit = async ({ id }) => {
      await rig.tasks.cancel(rig.name({ id }));
      throw driverError('rejected');
    };
    await rig.submit();
    expect(told).toEqual([
      ['held', 50],
      ['refunded', 50],
    ]);
    expect(durations).toHaveLength(1);
  });
});
