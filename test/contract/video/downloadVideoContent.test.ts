import { expect, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { assertConforms, expectError } from '../../support/expectations.ts';
import { faulty, finishedVideo } from '../../support/faults.ts';
import { startVideo, videoEnded } from '../../support/start-video.ts';

const operation = documented('downloadVideoContent');
const missing = { code: 'resource_not_found', field: 'task_id' };

describeOperation('downloadVideoContent', {
  invalid: {
    'a task id of 129 characters': { path: { task_id: 't'.repeat(129) }, field: 'task_id', limit: 128 },
    'a variant that does not exist': {
      query: { variant: 'spritesheet' },
      field: 'variant',
      limit: 'thumbnail',
    },
  },
  gatewayTests: (call) => {
    test('200 the file, 206 a range, 416 an unsatisfiable range', async () => {
      const id = await startVideo();
      await videoEnded(id);
      const path = { task_id: id };
      const fullFile = await call({ path });
      expect([fullFile.status, fullFile.headers.get('content-type')]).toEqual([200, 'video/mp4']);
      expect(fullFile.headers.get('accept-ranges')).toBe('bytes');
      const part = await call({ path, headers: { range: 'bytes=0-99' } });
      expect([part.status, part.body.length]).toEqual([206, 100]);
      expect(part.headers.get('content-range')).toBe(`bytes 0-99/${fullFile.body.length}`);
      const unsatisfiable = await call({ path, headers: { range: `bytes=${fullFile.body.length}-` } });
      expectError(unsatisfiable, 416, { code: 'range_not_satisfiable', field: 'range' });
      expect(unsatisfiable.headers.get('content-range')).toBe(`bytes */${fullFile.body.length}`);
      expectError(await call({ path, query: { variant: 'thumbnail' } }), 404, missing);
    });
    test('200 the last frame as the thumbnail', async () => {
      const id = await startVideo({
        model: 'epsilon-delta-2-0-260128',
        seconds: '4',
        resolution: undefined,
        size: '480p',
        metadata: { return_last_frame: true },
      });
      await videoEnded(id);
      const response = await call({ path: { task_id: id }, query: { variant: 'thumbnail' } });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png']);
    });
    test('200 and 206 with the media type of the provider', async () => {
      const forms = [
        ['mov jpg', 'video/quicktime', 'image/jpeg'],
        ['mp4 webp', 'video/mp4', 'image/webp'],
        ['mp4 png', 'video/mp4', 'image/png'],
      ] as const;
      const ids = await Promise.all(forms.map(([endings]) => finishedVideo(endings)));
      for (const [index, [, video, frame]] of forms.entries()) {
        const path = { task_id: ids[index] ?? '' };
        for (const [variant, mediaType] of [
          ['video', video],
          ['thumbnail', frame],
        ] as const) {
          const load = async (headers = {}) =>
            assertConforms(
              await exchange(await faulty(), operation, { path, query: { variant }, headers }),
              operation,
            );
          const fullFile = await load();
          expect([fullFile.status, fullFile.headers.get('content-type')]).toEqual([200, mediaType]);
          const part = await load({ range: 'bytes=0-99' });
          expect([part.status, part.headers.get('content-type'), part.body.length]).toEqual([
            206,
            mediaType,
            100,
          ]);
          expect(part.body.equals(fullFile.body.subarray(0, 100))).toBe(true);
        }
      }
    });
    test('400 an unfinished task', async () => {
      const response = await call({ path: { task_id: await startVideo() } });
      expectError(response, 400, { code: 'task_not_completed', field: 'task_id' });
    });
    test.each(['[[unknown]]', '[[expired-url]]'])('404 a missing file: %s', async (prompt) => {
      const id = await startVideo({ prompt });
      await videoEnded(id);
      expectError(await call({ path: { task_id: id } }), 404, missing);
    });
    test.each(['none', `task_${'0'.repeat(32)}`, 'a/b', '%00'])('404 the task %j', async (id) => {
      expectError(await call({ path: { task_id: id } }), 404, missing);
    });
    test('404 a task of another user', async () => {
      expectError(await call({ path: { task_id: await startVideo() }, as: 'noQuota' }), 404, missing);
    });
  },
});
