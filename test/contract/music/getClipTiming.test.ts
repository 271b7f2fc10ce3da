import { expect, test } from 'vitest';
import { jsonOf } from '../../support/answer.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectRefusal } from '../../support/expectations.ts';
import { finishedSongs, musicUntil, prefixes, startMusic } from '../../support/start-music.ts';

const missing = { code: 'resource_not_found', names: 'clip_id' };

describeOperation('getClipTiming', {
  invalid: {
    'a clip id of 129 characters': { path: { clip_id: 'c'.repeat(129) }, names: 'clip_id', limit: 128 },
  },
  carriesOut: (call) => {
    test.each(prefixes)('200 of a finished song at %s', { timeout: 90_000 }, async (prefix) => {
      const [song] = await finishedSongs();
      const answer = await call({ prefix, path: { clip_id: song?.id ?? '' } });
      expect(answer.status).toBe(200);
      const { aligned_words, waveform_data } = jsonOf(answer) as {
        aligned_words: object[];
        waveform_data: number[];
      };
      expect(aligned_words.length).toBeGreaterThan(0);
      expect(waveform_data.length).toBeGreaterThan(0);
    });
    test('409 a song that is still being made', { timeout: 60_000 }, async () => {
      const { data } = await musicUntil(await startMusic({ prompt: 'The sea. [[never]]' }), 'IN_PROGRESS');
      const [song] = data as { id: string }[];
      const answer = await call({ path: { clip_id: song?.id ?? '' } });
      expectRefusal(answer, 409, { code: 'resource_not_ready', names: 'clip_id' });
    });
    test("404 a song that is not there, or another user's", { timeout: 90_000 }, async () => {
      const [song] = await finishedSongs();
      expectRefusal(await call({ path: { clip_id: 'none' } }), 404, missing);
      expectRefusal(await call({ path: { clip_id: song?.id ?? '' }, as: 'penniless' }), 404, missing);
    });
  },
});
