import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { finishedSongs, prefixes } from '../../support/start-music.ts';
import { invalidClipIds, testUnavailableSongs } from '../../support/unavailable-songs.ts';

describeOperation('getClipTiming', {
  invalid: invalidClipIds,
  gatewayTests: (call) => {
    test.each(prefixes)('200 for a complete song at %s', { timeout: 90_000 }, async (prefix) => {
      const [song] = await finishedSongs();
      const response = await call({ prefix, path: { clip_id: song?.id ?? '' } });
      expect(response.status).toBe(200);
      const { aligned_words, waveform_data } = jsonOf(response) as {
        aligned_words: object[];
        waveform_data: number[];
      };
      expect(aligned_words.length).toBeGreaterThan(0);
      expect(waveform_data.length).toBeGreaterThan(0);
    });
    testUnavailableSongs(call);
  },
});
