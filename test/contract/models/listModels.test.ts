import { expect, test } from 'vitest';
import { models } from '../../../generated/catalogue.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';

interface Listed {
  data: { id: string; created: number; owned_by: string; unit: string; voices?: { id: string }[] }[];
}

describeOperation('listModels', {
  gatewayTests: (call) => {
    test('200 models of the catalog, sorted, with unit and voices', async () => {
      const { data } = jsonOf(await call()) as Listed;
      const ids = data.map(({ id }) => id);
      expect(ids).toEqual([...ids].sort());
      expect(models.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
      const voxa = data.find(({ id }) => id === 'voxa-v2');
      expect(voxa).toMatchObject({
        unit: 'characters',
        voices: expect.arrayContaining([expect.objectContaining({ id: 'voxanna' })]),
      });
      expect(data.find(({ id }) => id === 'alpha3-tts-vc-2026-01-22')?.voices).toEqual([]);
    });
    test('200 each model with its owner and creation time', async () => {
      const { data } = jsonOf(await call()) as Listed;
      for (const { id, created } of data) {
        expect(created, id).toBeGreaterThan(Date.parse('2020-01-01') / 1000);
        expect(created, id).toBeLessThanOrEqual(Date.now() / 1000);
      }
      const owners = Object.fromEntries(data.map(({ id, owned_by }) => [id, owned_by]));
      expect(owners).toMatchObject({
        'voice-enrollment': 'voxa',
        'alpha-voice-enrollment': 'alpha',
        'alpha-voice-design': 'alpha',
        'alpha-audio-3.0-tts-plus': 'alpha',
        'voxa-v1': 'voxa',
        'beta/speech-02-hd': 'beta',
      });
    });
    test('200 an empty list for a key without access to models', async () => {
      expect(jsonOf(await call({ as: 'noModels' }))).toEqual({
        object: 'list',
        data: [],
        has_more: false,
        first_id: null,
        last_id: null,
      });
    });
  },
});
