import { beforeEach, describe, expect, test } from 'vitest';
import { Failure } from '../../server/lib/failure.ts';
import {
  type AcceptedTask,
  DriverError,
  driverErrorForStatus,
  type Resumed,
} from '../../server/tasks/driver.ts';
import type { ResumeInput } from '../../server/tasks/resumption.ts';
import { engines } from '../store/engines.ts';
import { now, TaskHarness } from './harness.ts';
import { driverError } from './scripted-driver.ts';

describe.each(engines)('a task that waits for its owner on %s', (engine) => {
  let rig: TaskHarness;
  let task: AcceptedTask;
  TaskHarness.eachTest(engine, (made) => {
    rig = made;
  });
  beforeEach(async () => {
    rig.driver.onPoll = () => ({ state: 'queued', result: { waits: true } });
    const { id } = await rig.submit({ facts: { state: 'order 7' }, callbackUrl: 'https://client.example/a' });
    await rig.step(1_000);
    task = (await rig.tasks.read(rig.name({ id }))) as AcceptedTask;
  });

  const input: ResumeInput = {
    request: { prompt: 'a boat' },
    facts: { state: 'order 8' },
    callbackUrl: 'https://client.example/b',
  };
  const answered: Resumed = { upstreamId: 'other', result: { continues: true } };

  test('continues at its provider, whose response replaces the current result', async () => {
    rig.driver.onResume = async ({ id }, { channel, user }) => {
      expect([channel.name, user]).toEqual(['one', rig.token.userId]);
      // The input is on disk before the response.
      expect(await rig.stored({ id })).toMatchObject({
        facts: '{"state":"order 8"}',
        callback_url: 'https://client.example/b',
        upstream_id: 'up-1',
      });
      return answered;
    };
    rig.clock.jump(400);
    const resumed = await rig.tasks.resume(task, input);
    expect(rig.driver.resumed).toEqual([{ upstreamId: 'up-1', request: { prompt: 'a boat' } }]);
    expect(resumed).toMatchObject({
      ...answered,
      facts: { state: 'order 8' },
      callbackUrl: 'https://client.example/b',
      updatedAt: now + 1_400,
      nextPollAt: now + 2_400,
      pollInterval: 1_000,
    });
    await rig.expectBalance({ reserved: 50 });
  });

  test('keeps facts and callback URL that are absent from the input', async () => {
    expect(await rig.tasks.resume(task, { request: {} })).toMatchObject({
      facts: { state: 'order 7' },
      callbackUrl: 'https://client.example/a',
    });
  });

  test('is polled soon by an engine that expected no poll', async () => {
    await rig.step(0);
    rig.driver.onPoll = () => ({ state: 'queued', pollAfterMs: 60_000 });
    await rig.tasks.start();
    await rig.advance(5_000);
    rig.driver.polled.length = 0;
    await rig.tasks.resume(task, input);
    await rig.advance(1_000);
    expect(rig.driver.polled).toEqual([{ id: task.id, at: rig.clock.monotonic() }]);
    await rig.tasks.stop();
  });

  test('that is final accepts no input, and its provider receives no request', async () => {
    await rig.tasks.cancel(rig.name(task));
    expect(await rig.tasks.resume(task, input)).toBeUndefined();
    expect(rig.driver.resumed).toEqual([]);
    expect(await rig.stored(task)).toMatchObject({ facts: '{"state":"order 7"}' });
  });

  test('that ends during the request stays final', async () => {
    rig.driver.onResume = async () => {
      await rig.tasks.cancel(rig.name(task));
      return answered;
    };
    expect(await rig.tasks.resume(task, input)).toBeUndefined();
    expect(await rig.stored(task)).toMatchObject({ state: 'failed', upstream_id: 'up-1' });
    await rig.expectBalance({});
  });

  test('keeps waiting if its provider refuses the input', async () => {
    const refused = driverError('rejected');
    rig.driver.onResume = () => {
      throw refused;
    };
    await expect(rig.tasks.resume(task, input)).rejects.toBe(refused.failure);
    expect(await rig.stored(task)).toMatchObject({ state: 'queued', result: '{"waits":true}' });
    rig.driver.onResume = () => answered;
    expect(await rig.tasks.resume(task, input)).toMatchObject(answered);
  });

  test('keeps waiting if its provider does not respond within two minutes, which is logged', async () => {
    rig.driver.onResume = () => new Promise(() => {});
    const failure = rig.tasks.resume(task, input).catch((error: unknown) => error);
    await rig.advance(120_000);
    expect(await failure).toMatchObject({ status: 504, code: 'upstream_timeout' });
    expect(rig.lines).toEqual([
      expect.objectContaining({ task: task.id, channel: 'one', kind: 'unknown', status: 504 }),
    ]);
  });

  test('of a removed channel is refused with 503', async () => {
    const without = rig.engine({ channels: { names: [], named: () => undefined } });
    await expect(without.resume(task, input)).rejects.toMatchObject({
      status: 503,
      code: 'get_channel_failed',
      message: 'The provider that has the task is not available.',
    });
  });

  test('of a driver without resume fails', async () => {
    const { submit, poll } = rig.driver;
    const driver = { submit: submit.bind(rig.driver), poll: poll.bind(rig.driver) };
    for (const drivers of [new Map([['scripted', driver]]), new Map<string, never>()])
      await expect(rig.engine({ drivers }).resume(task, input)).rejects.toMatchObject({ status: 502 });
  });

  test('affects the health of its channel as a poll, not as a call', async () => {
    const { health } = rig.channel('one');
    const failed = driverErrorForStatus(500, new Failure(502, 'bad_response_status_code', 'Bad.'));
    expect(failed).toBeInstanceOf(DriverError);
    const resume = (respond: () => Resumed) => {
      rig.driver.onResume = respond;
      rig.clock.jump(2_000);
      return rig.tasks.resume(task, input).catch(() => {});
    };
    const fails = () => {
      throw failed;
    };
    for (const respond of [fails, fails, () => answered, fails, fails]) await resume(respond);
    // A successful call does not reset the streak of polls.
    health.startAttempt().succeed();
    expect(health.state).toBe('healthy');
    await resume(fails);
    expect(health.state).toBe('resting');
  });

  test('is awaited by a gateway that stops', async () => {
    const answer = Promise.withResolvers<Resumed>();
    rig.driver.onResume = () => answer.promise;
    const resumed = rig.tasks.resume(task, input);
    await rig.settled();
    let stopped = false;
    const stop = rig.tasks.stop().then(() => {
      stopped = true;
    });
    await rig.settled();
    expect(stopped).toBe(false);
    answer.resolve(answered);
    expect(await resumed).toMatchObject(answered);
    await stop;
    expect(rig.clock.pending).toBe(0);
  });
});
