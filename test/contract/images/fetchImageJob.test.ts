import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { imageJobEnded, startImageJob } from '../../support/start-image-job.ts';

describeOperation('fetchImageJob', {
  invalid: {
    'an id of 129 characters': { path: { id: '1'.repeat(129) }, field: 'id', limit: 128 },
  },
  gatewayTests: (call) => {
    test('200 a grid with its buttons', async () => {
      const id = await startImageJob({ state: 'order 7' });
      const early = jsonOf(await call({ path: { id } }));
      expect(early).toMatchObject({ id, action: 'IMAGINE', state: 'order 7', imageUrl: null, buttons: [] });
      await imageJobEnded(id);
      const response = await call({ path: { id } });
      expect(jsonOf(response)).toMatchObject({ id, status: 'SUCCESS', progress: '100%', failReason: null });
      const { buttons } = jsonOf(response) as { buttons: { label: string }[] };
      expect(buttons.map(({ label }) => label)).toEqual(expect.arrayContaining(['U1', 'V4']));
    });
    test('200 a job that has failed', async () => {
      const id = await startImageJob({ prompt: 'a harbour [[fail-late]]' });
      await imageJobEnded(id);
      const response = await call({ path: { id } });
      expect(jsonOf(response)).toMatchObject({ status: 'FAILURE', failReason: expect.stringMatching(/./) });
    });
    test.each(['none', '%00'])('404 the job %j', async (id) => {
      expectError(await call({ path: { id } }), 404, { code: 'resource_not_found', field: 'id' });
    });
    test('404 a job of another user', async () => {
      const response = await call({ path: { id: await startImageJob() }, as: 'noQuota' });
      expectError(response, 404, { code: 'resource_not_found', field: 'id' });
    });
  },
});
