import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { eta, startVideo, videoEnded } from '../../support/start-video.ts';

const missing = { code: 'resource_not_found', field: 'task_id' };

describeOperation('getVideo', {
  invalid: {
    'a task id of 129 characters': { path: { task_id: 't'.repeat(129) }, field: 'task_id', limit: 128 },
  },
  gatewayTests: (call) => {
    test('200 a new task', async () => {
      const id = await startVideo();
      const response = await call({ path: { task_id: id } });
      expect(response.status).toBe(200);
      expect(jsonOf(response)).toMatchObject({
        id,
        object: 'video',
        model: eta.model,
        seconds: '2',
        error: null,
      });
    });
    test('200 a task that has failed', async () => {
      const id = await startVideo({ prompt: '[[unknown]]' });
      await videoEnded(id);
      const response = await call({ path: { task_id: id } });
      expect(jsonOf(response)).toMatchObject({ status: 'failed', error: { code: 'task_lost' } });
    });
    test.each(['none', `task_${'0'.repeat(32)}`, 'a/b', '%00'])('404 the task %j', async (id) => {
      expectError(await call({ path: { task_id: id } }), 404, missing);
    });
    test('404 a task of another user', async () => {
      expectError(await call({ path: { task_id: await startVideo() }, as: 'noQuota' }), 404, missing);
    });
    test('404 a task of the other route', async () => {
      const id = await startVideo({}, '/v1/video/generations');
      expectError(await call({ path: { task_id: id } }), 404, missing);
    });
  },
});
