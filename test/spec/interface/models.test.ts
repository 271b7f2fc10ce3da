import { describe, expect, test } from 'vitest';
import { families, models } from '../../../generated/catalogue.ts';
import { maxTexts, otherModels, protocols, reported, speechModels, units } from './models.ts';

describe('models', () => {
  const byId = new Map(models.map((model) => [model.id as string, model]));
  test.each(speechModels.flatMap(({ ids, ...row }) => ids.map((id) => ({ id, ...row }))))(
    '$id: $protocol, metered in $unit',
    ({ id, protocol, unit, voices = 'system' }) => {
      expect(byId.get(id)).toMatchObject({ protocols: protocols[protocol], unit: units[unit] });
      expect(byId.get(id)?.reported).toBe(reported[unit]);
      if (protocol !== 'voice customization HTTP') expect(byId.get(id)?.voices).toBe(voices);
      expect(byId.get(id)?.instruct ?? false).toBe(id.includes('-instruct-'));
    },
  );
  test.each(Object.entries(otherModels))('the %s family has exactly its models', (family, ids) => {
    const own = models.filter((model) => model.family === family).map(({ id }) => id);
    expect(own.filter((id) => id !== 'sigma_lyrics')).toEqual(ids);
  });
  test('all other models are placeholders for 3D, lyrics, images, texts and verification', () => {
    const known = [...speechModels.flatMap(({ ids }) => ids), ...Object.values(otherModels).flat()];
    expect([...byId.keys()].filter((id) => !known.includes(id))).toEqual([
      'theta-3d',
      'sigma_lyrics',
      'theta-embedding-1',
      'iota-chat-1',
      'vendorx_verification',
    ]);
  });
  test.each(Object.entries(maxTexts))('%s has its longest text', (family, longest) => {
    expect(families[family as keyof typeof maxTexts]).toMatchObject(longest);
  });
});
