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

/** A mask of the whole picture, which is a square. */
function mask(): string {
  const png = new PNG({ width: 8, height: 8 });
  png.data.fill(255);
  return `data:image/png;base64,${PNG.sync.write(png).toString('base64')}`;
}

describeOperation('submitImageModal', {
  invalid: {
    'without a job': { change: { taskId: undefined }, field: 'taskId' },
    'a job id that is a number': { change: { taskId: 1795 }, field: 'taskId' },
    'a mask that is no PNG': { change: { maskBase64: 'data:image/jpeg;base64,/9j/' }, field: 'maskBase64' },
    'a delivery to no web address': { change: { notifyHook: 'app.example' }, field: 'notifyHook' },
    'an empty prompt': { change: { prompt: '' }, field: 'prompt', limit: 1 },
  },
  gatewayTests: (call) => {
    let picture: components['schemas']['ImageJob'];
    beforeAll(async () => {
      picture = await finishedImage();
    });
    const give = (taskId: string, change: object = {}) => ({
      change: { taskId, notifyHook: undefined, maskBase64: mask(), ...change },
    });

    test('200 the job goes on, once', async () => {
      const id = await openInpainting(picture);
      const answer = await call(give(id, { state: 'order 8' }));
      expect(answer.status).toBe(200);
      expect(jsonOf(answer)).toEqual({ code: 1, description: 'Submit success', result: id, properties: {} });
      expectError(await call(give(id)), 400, { code: 'invalid_request', field: 'taskId' });
      const job = await imageJobEnded(id);
      expect(job).toMatchObject({ status: 'SUCCESS', action: 'INPAINT', state: 'order 8' });
      expect(job.imageUrl).not.toBe(picture.imageUrl);
    });
    test('400 without a mask, and the job waits on', async () => {
      const id = await openInpainting(picture);
      expectError(await call(give(id, { maskBase64: undefined })), 400, { code: 'bad_request' });
      expect((await call(give(id))).status).toBe(200);
    });
    test('400 a job that does not wait', async () => {
      expectError(await call(give(await startImageJob())), 400, {
        code: 'invalid_request',
        field: 'taskId',
      });
    });
    test('404 an unknown job, and that of another user', async () => {
      const unknown = { code: 'resource_not_found', field: 'taskId' };
      expectError(await call(give('task_none')), 404, unknown);
      expectError(await call({ ...give(await openInpainting(picture)), as: 'noQuota' }), 404, unknown);
    });
  },
});
