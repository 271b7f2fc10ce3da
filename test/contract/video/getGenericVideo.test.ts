import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { startVideo } from '../../support/start-video.ts';

const path = '/v1/video/generations';
const missing = { code: 'resource_not_found', field: 'task_id' };

describeOperation('getGenericVideo', {
  invalid: {
    'a task id of 129 characters': { path: { task_id: 't'.repeat(129) }, field: 'task_id', limit: 128 },
  },
  gatewayTests: (call) => {
    test.each([
      ['gamma3.0-video', { id: expect.stringMatching(/^task_/), object: 'video', status: 'queued' }],
      ['eta-imagine-video', { id: expect.stringMatching(/^task_/), object: 'video', status: 'queued' }],
      ['epsilon-delta-2-0-260128', { code: 'success', data: { task_id: expect.stringMatching(/^task_/) } }],
    ])('200 a task of %s', async (model, shown) => {
      const id = await startVideo({ model, seconds: '4', resolution: undefined }, path);
      const response = await call({ path: { task_id: id } });
      expect(response.status).toBe(200);
      expect(jsonOf(response)).toMatchObject(shown);
      expect(response.body.toString('utf8')).toContain(id);
    });
    test.each(['none', `task_${'0'.repeat(32)}`, 'a/b', '%00'])('404 the task %j', async (id) => {
      expectError(await call({ path: { task_id: id } }), 404, missing);
    });
    test('404 a task of another user', async () => {
      expectError(await call({ path: { task_id: await startVideo({}, path) }, as: 'noQuota' }), 404, missing);
    });
    test('404 a task of the other route', async () => {
      expectError(await call({ path: { task_id: await startVideo() } }), 404, missing);
    });
  },
});
