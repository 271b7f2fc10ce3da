import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { startVideo, videoEnded } from '../../support/start-video.ts';

const missing = { code: 'resource_not_found', field: 'task_id' };

describeOperation('deleteVideo', {
  invalid: {
    'a task id of 129 characters': { path: { task_id: 't'.repeat(129) }, field: 'task_id', limit: 128 },
  },
  gatewayTests: (call) => {
    test('200 a finished task, then 404', async () => {
      const id = await startVideo({ prompt: '[[unknown]]' });
      await videoEnded(id);
      const path = { task_id: id };
      const response = await call({ path });
      expect([response.status, jsonOf(response)]).toEqual([
        200,
        { id, object: 'video.deleted', deleted: true },
      ]);
      expectError(await call({ path }), 404, missing);
    });
    test('400 an unfinished task', async () => {
      const response = await call({ path: { task_id: await startVideo() } });
      expectError(response, 400, { code: 'task_not_completed', field: 'task_id' });
    });
    test.each(['none', `task_${'0'.repeat(32)}`, 'a/b', '%00'])('404 the task %j', async (id) => {
      expectError(await call({ path: { task_id: id } }), 404, missing);
    });
    test('404 a task of another user', async () => {
      expectError(await call({ path: { task_id: await startVideo() }, as: 'noQuota' }), 404, missing);
    });
  },
});
