import { expect, test } from 'vitest';
import { models } from '../../../generated/catalogue.ts';
import { describeOperation } from '../../support/contract.ts';
import { jsonOf } from '../../support/exchange.ts';

interface Listed {
  data: { id: string; unit: string; voices?: { id: string }[] }[];
}

describeOperation('listModels', {
  carriesOut: (call) => {
    test('200 models of the catalogue, sorted, with unit and voices', async () => {
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
    test('200 nothing for a key that reaches no model', async () => {
      expect(jsonOf(await call({ as: 'restricted' }))).toEqual({ object: 'list', data: [] });
    });
  },
});
