import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';

interface Task {
  output: { task_id: string; task_status: string };
}

/** Creates a task on the gateway. Returns its id. */
async function startTask(operation: 'createNativeVideo' | 'createModel3d', body: object): Promise<string> {
  const response = await exchange(inject('gateway'), documented(operation), { body: { ...body } });
  expect(response.status).toBe(200);
  return (jsonOf(response) as Task).output.task_id;
}

async function statusOf(id: string): Promise<string> {
  const response = await exchange(inject('gateway'), documented('getNativeTask'), { path: { task_id: id } });
  return (jsonOf(response) as Task).output.task_status;
}

describeOperation('cancelNativeTask', {
  invalid: {
    'a task id of 129 characters': { path: { task_id: 't'.repeat(129) }, field: 'task_id', limit: 128 },
  },
  gatewayTests: (call) => {
    test.each([
      ['a video', 'createNativeVideo', { model: 'gamma3.0-video', input: { prompt: '[[queued]] A kite.' } }],
      ['a 3D', 'createModel3d', { model: 'theta-3d', input: { prompt: '[[queued]] A horse.' } }],
    ] as const)('200 %s queued task, only once', async (_, operation, body) => {
      const id = await startTask(operation, body);
      const response = await call({ path: { task_id: id } });
      expect([response.status, jsonOf(response)]).toEqual([
        200,
        { request_id: response.headers.get('x-request-id') },
      ]);
      expect(await statusOf(id)).toBe('CANCELED');
      const again = await call({ path: { task_id: id } });
      expectError(again, 400, { code: 'UnsupportedOperation', field: 'task_id' });
    });
    test('404 the id of another user', async () => {
      const unknown = { code: 'resource_not_found', field: 'task_id' };
      expectError(await call({ path: { task_id: 'task_nobody' } }), 404, unknown);
      const id = await startTask('createNativeVideo', {
        model: 'gamma3.0-video',
        input: { prompt: '[[queued]] A kite.' },
      });
      expectError(await call({ path: { task_id: id }, as: 'noModels' }), 404, unknown);
      expect(await statusOf(id)).toBe('PENDING');
    });
  },
});
