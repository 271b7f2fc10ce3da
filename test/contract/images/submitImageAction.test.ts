import { beforeAll, expect, test } from 'vitest';
import type { components } from '../../../generated/http.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { testSdkRetries } from '../../support/sdk-retry-tests.ts';
import { buttonOf, finishedImage, imageJobEnded, startImageJob } from '../../support/start-image-job.ts';

describeOperation('submitImageAction', {
  invalid: {
    'without a job': { change: { taskId: undefined }, field: 'taskId' },
    'without a button': { change: { customId: undefined }, field: 'customId' },
    'a button of 513 characters': { change: { customId: 'b'.repeat(513) }, field: 'customId', limit: 512 },
    'a state that is an object': { change: { state: { order: 7 } }, field: 'state' },
  },
  gatewayTests: (call) => {
    let image: components['schemas']['ImageJob'];
    beforeAll(async () => {
      image = await finishedImage();
    });
    const actionRequest = (customId: string, change: object = {}) => ({
      change: { taskId: image.id, customId, notifyHook: undefined, ...change },
    });

    test('200 another image', async () => {
      const response = await call(actionRequest(buttonOf(image, 'IJ::Outpaint::50'), { state: 'order 7' }));
      expect(response.status).toBe(200);
      const { result } = jsonOf(response) as { result: string };
      expect(jsonOf(response)).toMatchObject({ code: 1, properties: {} });
      const job = await imageJobEnded(result);
      expect(job).toMatchObject({ status: 'SUCCESS', action: 'ZOOM', state: 'order 7' });
      expect(job.imageUrl).toMatch(/^http/);
    });
    test('200 a job that waits for the modal', async () => {
      const response = await call(actionRequest(buttonOf(image, 'IJ::Inpaint::')));
      expect(jsonOf(response)).toMatchObject({ code: 21, properties: { finalPrompt: expect.any(String) } });
    });
    testSdkRetries(call, () => actionRequest(buttonOf(image, 'IJ::Outpaint::75')));
    test('200 the same job for the same idempotency key', async () => {
      const headers = { 'idempotency-key': `action-${process.pid}-${performance.now()}` };
      const request = { ...actionRequest(buttonOf(image, 'IJ::Outpaint::50')), headers };
      const [first, again] = [await call(request), await call(request)];
      expect([first.status, jsonOf(again)]).toEqual([200, jsonOf(first)]);
      const other = { ...actionRequest(buttonOf(image, 'IJ::Inpaint::')), headers };
      expectError(await call(other), 400, { code: 'idempotency_key_reused' });
    });
    test('400 a button of another job', async () => {
      expectError(await call(actionRequest('IJ::JOB::upsample::1::other')), 400, {
        code: 'invalid_request',
        field: 'customId',
      });
    });
    test('400 a job in progress', async () => {
      const response = await call(
        actionRequest('IJ::JOB::upsample::1::x', { taskId: await startImageJob() }),
      );
      expectError(response, 400, { code: 'task_not_completed', field: 'taskId' });
    });
    test('403 for a key without access to image jobs', async () => {
      const response = await call({ ...actionRequest(buttonOf(image, 'IJ::Outpaint::50')), as: 'noModels' });
      expectError(response, 403, { code: 'access_denied' });
    });
    test('404 an unknown job and one of another user', async () => {
      expectError(await call(actionRequest('IJ::JOB::upsample::1::x', { taskId: 'task_none' })), 404, {
        code: 'resource_not_found',
        field: 'taskId',
      });
      expectError(await call({ ...actionRequest(buttonOf(image, 'IJ::Inpaint::')), as: 'noQuota' }), 404);
    });
  },
});
