import { expect, inject, test, vi } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';

interface Task {
  request_id: string;
  output: { task_id: string; task_status: string; code?: string; video_url?: string };
}

/** Creates a task on the gateway. Returns its id. */
async function startTask(operation: 'createNativeVideo' | 'createModel3d', body: object): Promise<string> {
  const response = await exchange(inject('gateway'), documented(operation), { body: { ...body } });
  expect(response.status).toBe(200);
  return (jsonOf(response) as Task).output.task_id;
}
const video = (prompt: string) =>
  startTask('createNativeVideo', {
    model: 'gamma3.0-video-prime',
    input: { prompt },
    parameters: { resolution: '480P', duration: 2 },
  });

describeOperation('getNativeTask', {
  invalid: {
    'a task id of 129 characters': { path: { task_id: 't'.repeat(129) }, field: 'task_id', limit: 128 },
  },
  gatewayTests: (call) => {
    const poll = async (id: string, as?: 'noModels') => {
      const response = await call({ path: { task_id: id }, ...(as && { as }) });
      expect(response.status).toBe(200);
      const task = jsonOf(response) as Task;
      expect([task.request_id, task.output.task_id]).toEqual([response.headers.get('x-request-id'), id]);
      return task.output;
    };
    const ended = (id: string) =>
      vi.waitFor(
        async () => {
          const output = await poll(id);
          if (['PENDING', 'RUNNING'].includes(output.task_status)) throw new Error('it is not final');
          return output;
        },
        { timeout: 18_000, interval: 100 },
      );

    test.concurrent('200 PENDING while the provider queues the task', async () => {
      expect((await poll(await video('[[queued]] A kite.'))).task_status).toBe('PENDING');
    });
    test.concurrent('200 SUCCEEDED with the video', async () => {
      const id = await video('A kite.');
      const { task_status, video_url = '' } = await ended(id);
      expect(task_status).toBe('SUCCEEDED');
      expect((await fetch(video_url, { method: 'HEAD' })).headers.get('content-type')).toBe('video/mp4');
    });
    test.concurrent('200 a 3D task on the same route', async () => {
      const id = await startTask('createModel3d', { model: 'theta-3d', input: { prompt: 'A horse.' } });
      expect(await ended(id)).toMatchObject({
        task_status: 'SUCCEEDED',
        results: { pbr_model_url: expect.stringContaining('.glb') },
      });
    });
    test.concurrent.each([
      ['sensitive', 'DataInspectionFailed'],
      ['fail-late', 'InternalError'],
      ['expire', 'task_lost'],
      ['unknown', 'task_lost'],
    ])('200 FAILED after %s', async (trigger, code) => {
      expect(await ended(await video(`[[${trigger}]] A kite.`))).toMatchObject({
        task_status: 'FAILED',
        code,
      });
    });
    test.concurrent.each(['poll-error', 'poll-throttle', 'poll-malformed', 'poll-drop'])(
      '200 SUCCEEDED despite %s',
      async (trigger) => {
        expect((await ended(await video(`[[${trigger}]] A kite.`))).task_status).toBe('SUCCEEDED');
      },
    );
    test('200 UNKNOWN for the id of another user', async () => {
      expect((await poll('task_nobody')).task_status).toBe('UNKNOWN');
      expect((await poll(await video('A kite.'), 'noModels')).task_status).toBe('UNKNOWN');
    });
  },
});
