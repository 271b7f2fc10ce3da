import * as api from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { quotaCharged, quotaRefunded, quotaReserved, taskDuration } from '../../server/telemetry/metrics.ts';
import { currentContext } from '../../server/telemetry/telemetry-context.ts';
import { useTracer } from '../../server/telemetry/trace.ts';
import { TaskHarness } from './harness.ts';
import { driverError } from './scripted-driver.ts';

describe('metrics of tasks', () => {
  let rig: TaskHarness;
  let recorded: (string | number)[][];
  let durations: unknown[][];
  TaskHarness.eachTest('sqlite', (made) => {
    rig = made;
  });
  beforeEach(() => {
    recorded = [];
    durations = [];
    const kinds = { reserved: quotaReserved, charged: quotaCharged, refunded: quotaRefunded };
    for (const [kind, counter] of Object.entries(kinds))
      vi.spyOn(counter, 'add').mockImplementation((quota, labels) => {
        expect(labels).toEqual({ 'unigate.model': 'gamma3.0-video' });
        if (quota > 0) recorded.push([kind, quota]);
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

  test('record the reserved, charged and refunded quota, and the duration', async () => {
    await rig.submit();
    expect(recorded).toEqual([['reserved', 50]]);
    rig.driver.onPoll = () => ({ state: 'completed', result: {}, usage: { units: 3 } });
    await rig.step(2_500);
    expect(recorded.slice(1)).toEqual([
      ['charged', 30],
      ['refunded', 20],
    ]);
    expect(durations).toEqual([duration(2.5, 'completed')]);
  });

  test('a poll is its own span, and its log lines have the request id', async () => {
    const context = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 };
    const end = vi.fn();
    const span = { spanContext: () => context, isRecording: () => true, setAttributes: () => {}, end };
    const startSpan = vi.fn(
      (..._arguments: Parameters<api.Tracer['startSpan']>) => span as unknown as api.Span,
    );
    const stop = useTracer({ startSpan } as unknown as api.Tracer, api);
    try {
      const task = await rig.submit();
      rig.driver.onPoll = () => {
        expect(currentContext()).toMatchObject({ requestId: task.requestId, trace: { context } });
        expect(end).not.toHaveBeenCalled();
        return { state: 'completed', result: {} };
      };
      await rig.step(1_000);
      const attributes = { 'unigate.task.id': task.id, 'unigate.channel': 'one' };
      const [poll, ...commands] = startSpan.mock.calls.map(([name, options]) => ({ name, ...options }));
      expect(poll).toMatchObject({ name: 'poll task', attributes });
      expect(end).toHaveBeenCalledTimes(commands.length + 1);
      expect(await rig.stored(task)).toMatchObject({ state: 'completed' });
    } finally {
      stop();
    }
  });

  test('a failed task is refunded and counts as ended', async () => {
    await rig.submit();
    rig.driver.onPoll = () => ({ state: 'failed', error: { code: 'no', message: 'No.' } });
    await rig.step(4_000);
    expect(recorded.slice(1)).toEqual([['refunded', 50]]);
    expect(durations).toEqual([duration(4, 'failed')]);
  });

  test('a task that no provider accepts is refunded and does not count as ended', async () => {
    rig.driver.onSubmit = () => {
      throw driverError('rejected');
    };
    await expect(rig.submit()).rejects.toThrow();
    expect(recorded).toEqual([
      ['reserved', 50],
      ['refunded', 50],
    ]);
    expect(durations).toEqual([]);
  });

  test('a task that ends while a provider refuses it is refunded once', async () => {
    rig.driver.onSubmit = async ({ id }) => {
      await rig.tasks.cancel(rig.name({ id }));
      throw driverError('rejected');
    };
    await rig.submit();
    expect(recorded).toEqual([
      ['reserved', 50],
      ['refunded', 50],
    ]);
    expect(durations).toHaveLength(1);
  });
});
