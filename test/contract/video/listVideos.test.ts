import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { startVideo, type VideoTask } from '../../support/start-video.ts';

describeOperation('listVideos', {
  invalid: {
    'a page of none': { query: { limit: 0 }, field: 'limit', limit: 1 },
    'a page of 101': { query: { limit: 101 }, field: 'limit', limit: 100 },
    'a page size that is no number': { query: { limit: 'all' }, field: 'limit' },
    'an order that does not exist': { query: { order: 'random' }, field: 'order', limit: 'desc' },
    'a cursor of 129 characters': { query: { after: 't'.repeat(129) }, field: 'after', limit: 128 },
  },
  gatewayTests: (call) => {
    const listed = async (query: Record<string, string | number>) => {
      const answer = await call({ query });
      expect(answer.status).toBe(200);
      const page = jsonOf(answer) as { data: VideoTask[]; has_more: boolean; last_id: string | null };
      return { ids: page.data.map(({ id }) => id), more: page.has_more, last: page.last_id };
    };
    test('200 the newest first, and from there on', async () => {
      const [first, second] = [await startVideo(), await startVideo()];
      expect(await listed({ limit: 1 })).toEqual({ ids: [second], more: true, last: second });
      expect((await listed({ limit: 1, after: second })).ids).toEqual([first]);
      expect((await listed({ after: first, order: 'asc' })).ids).toEqual([second]);
    });
    test('200 nothing for somebody who made nothing', async () => {
      const answer = await call({ as: 'noModels' });
      expect(jsonOf(answer)).toEqual({
        object: 'list',
        data: [],
        first_id: null,
        last_id: null,
        has_more: false,
      });
    });
    test('400 after a task that is not there', async () => {
      const missing = { code: 'invalid_request', field: 'after' };
      expectError(await call({ query: { after: 'none' } }), 400, missing);
      expectError(await call({ query: { after: await startVideo() }, as: 'noModels' }), 400, missing);
    });
  },
});
