import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { invalidSongs, testRefusedSongs } from '../../support/refused-songs.ts';
import { finishedSongs, prefixes } from '../../support/start-music.ts';

describeOperation('getClipWav', {
  invalid: invalidSongs,
  carriesOut: (call) => {
    test.each(prefixes)('200 of a finished song at %s', { timeout: 90_000 }, async (prefix) => {
      const [song] = await finishedSongs();
      const answer = await call({ prefix, path: { clip_id: song?.id ?? '' } });
      expect(answer.status).toBe(200);
      expect(jsonOf(answer)).toEqual({ wav_file_url: expect.stringMatching(/^https?:/) });
    });
    testRefusedSongs(call);
  },
});
