import { expect, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { assertConforms, expectError } from '../../support/expectations.ts';
import { faulty, filesOf, finishedVideo, linkParts } from '../../support/faults.ts';
import { startVideo, videoEnded } from '../../support/start-video.ts';

const operation = documented('getFile');
const missing = { code: 'resource_not_found', field: 'token' };

describeOperation('getFile', {
  invalid: {
    'a token of 12289 characters': { path: { token: 't'.repeat(12_289) }, field: 'token', limit: 12_288 },
    'a name of 65 characters': { path: { name: 'n'.repeat(65) }, field: 'name', limit: 64 },
  },
  gatewayTests: (call) => {
    const withoutKey = { authorization: undefined };
    const ended = async (prompt?: string) => {
      const id = await startVideo(prompt === undefined ? {} : { prompt });
      return linkParts((await videoEnded(id)).video_url ?? '');
    };
    test('200 the file, 206 a range, 416 an unsatisfiable range, all without a key', async () => {
      const path = await ended();
      expect(path.name).toBe('video.mp4');
      const fullFile = await call({ path, headers: withoutKey });
      expect([fullFile.status, fullFile.headers.get('content-type')]).toEqual([200, 'video/mp4']);
      expect(fullFile.headers.get('content-disposition')).toBe('inline; filename="video.mp4"');
      const part = await call({ path, headers: { ...withoutKey, range: 'bytes=0-99' } });
      expect([part.status, part.body.equals(fullFile.body.subarray(0, 100))]).toEqual([206, true]);
      expect(part.headers.get('content-range')).toBe(`bytes 0-99/${fullFile.body.length}`);
      const unsatisfiable = await call({
        path,
        headers: { ...withoutKey, range: `bytes=${fullFile.body.length}-` },
      });
      expectError(unsatisfiable, 416, { code: 'range_not_satisfiable', field: 'range' });
      expect(unsatisfiable.headers.get('content-range')).toBe(`bytes */${fullFile.body.length}`);
    });
    test('200 and 206 with the media type of the provider', async () => {
      const forms = [
        ['mov jpg', 'video/quicktime', 'image/jpeg'],
        ['mp4 webp', 'video/mp4', 'image/webp'],
        ['mp3 png', 'audio/mpeg', 'image/png'],
        ['wav pcm', 'audio/wav', 'audio/pcm'],
        ['ogg flac', 'audio/ogg', 'audio/flac'],
        ['glb bin', 'model/gltf-binary', 'application/octet-stream'],
      ] as const;
      const links = await Promise.all(forms.map(([endings]) => finishedVideo(endings).then(filesOf)));
      for (const [index, [, video, frame]] of forms.entries()) {
        for (const [which, mediaType] of [
          ['video', video],
          ['frame', frame],
        ] as const) {
          const path = links[index]?.[which] ?? {};
          const load = async (headers = {}) =>
            assertConforms(await exchange(await faulty(), operation, { path, headers }), operation);
          const fullFile = await load();
          expect([fullFile.status, fullFile.headers.get('content-type')]).toEqual([200, mediaType]);
          const part = await load({ range: 'bytes=0-99' });
          expect([part.status, part.headers.get('content-type')]).toEqual([206, mediaType]);
          expect(part.body.equals(fullFile.body.subarray(0, 100))).toBe(true);
        }
      }
    });
    test('404 a file that the provider has deleted', async () => {
      expectError(await call({ path: await ended('[[expired-url]]') }), 404, missing);
    });
    test.each(['none', 'A'.repeat(200), 'a/b', '%00'])('404 the token %j', async (token) => {
      expectError(await call({ path: { token, name: 'video.mp4' } }), 404, missing);
    });
  },
});
