import { PNG } from 'pngjs';
import { beforeAll, expect, test } from 'vitest';
import type { components } from '../../../generated/http.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import {
  finishedImage,
  imageJobEnded,
  openInpainting,
  startImageJob,
} from '../../support/start-image-job.ts';

/** A square mask of the whole image. */
function mask(): string {
  const png = new PNG({ width: 8, height: 8 });
  png.data.fill(255);
  return `data:image/png;base64,${PNG.sync.write(png).toString('base64')}`;
}

describeOperation('submitImageModal', {
  invalid: {
    'without a job': { change: { taskId: undefined }, field: 'taskId' },
    'a job id that is a number': { change: { taskId: 1795 }, field: 'taskId' },
    'a mask that is not a PNG': {
      change: { maskBase64: 'data:image/jpeg;base64,/9j/' },
      field: 'maskBase64',
    },
    'a callback URL that is not a web URL': { change: { notifyHook: 'app.example' }, field: 'notifyHook' },
    'an empty prompt': { change: { prompt: '' }, field: 'prompt', limit: 1 },
  },
  gatewayTests: (call) => {
    let image: components['schemas']['ImageJob'];
    beforeAll(async () => {
      image = await finishedImage();
    });
    const modalRequest = (taskId: string, change: object = {}) => ({
      change: { taskId, notifyHook: undefined, maskBase64: mask(), ...change },
    });

    test('200 the job continues, once', async () => {
      const id = await openInpainting(image);
      const response = await call(modalRequest(id, { state: 'order 8' }));
      expect(response.status).toBe(200);
      expect(jsonOf(response)).toEqual({
        code: 1,
        description: 'Submit success',
        result: id,
        properties: {},
      });
      expectError(await call(modalRequest(id)), 400, { code: 'invalid_request', field: 'taskId' });
      const job = await imageJobEnded(id);
      expect(job).toMatchObject({ status: 'SUCCESS', action: 'INPAINT', state: 'order 8' });
      expect(job.imageUrl).not.toBe(image.imageUrl);
    });
    test('400 without a mask, and the job still waits', async () => {
      const id = await openInpainting(image);
      expectError(await call(modalRequest(id, { maskBase64: undefined })), 400, { code: 'bad_request' });
      expect((await call(modalRequest(id))).status).toBe(200);
    });
    test('400 a job that does not wait for the modal', async () => {
      expectError(await call(modalRequest(await startImageJob())), 400, {
        code: 'invalid_request',
        field: 'taskId',
      });
    });
    test('404 an unknown job and one of another user', async () => {
      const unknown = { code: 'resource_not_found', field: 'taskId' };
      expectError(await call(modalRequest('task_none')), 404, unknown);
      expectError(await call({ ...modalRequest(await openInpainting(image)), as: 'noQuota' }), 404, unknown);
    });
  },
});
