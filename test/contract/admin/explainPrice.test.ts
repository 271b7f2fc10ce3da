import { expect, test } from 'vitest';
import type { components } from '../../../generated/http.ts';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

type Explanation = components['schemas']['PriceExplanation'];

describeOperation('explainPrice', {
  invalid: {
    'no body': { change: { body: undefined }, field: 'body' },
    'a body that is a text': { change: { body: 'A kite' }, field: 'body' },
    'an empty model': { change: { model: '' }, field: 'model', limit: 1 },
    'an operation of 201 characters': {
      change: { operation: 'o'.repeat(201) },
      field: 'operation',
      limit: 200,
    },
    'a key id of 0': { change: { token_id: 0 }, field: 'token_id', limit: 1 },
    'a user id that is a text': { change: { user_id: '1' }, field: 'user_id' },
    'a group of 65 characters': { change: { group: 'g'.repeat(65) }, field: 'group', limit: 64 },
    'a usage without figures': { change: { usage: { seconds: undefined } }, field: 'usage', limit: 1 },
    'negative seconds': { change: { usage: { seconds: -1 } }, field: 'usage.seconds', limit: 0 },
    'an unknown figure': { change: { usage: { minutes: 1 } }, field: 'usage.minutes' },
    'a report without fields': { change: { reported: {} }, field: 'reported', limit: 1 },
    'an empty reported resolution': {
      change: { reported: { resolution: '' } },
      field: 'reported.resolution',
      limit: 1,
    },
    'a reported ratio of 33 characters': {
      change: { reported: { ratio: '1'.repeat(33) } },
      field: 'reported.ratio',
      limit: 32,
    },
    'an unknown reported field': { change: { reported: { fps: 30 } }, field: 'reported.fps' },
    'an unknown field': { change: { user: 1 }, field: 'user' },
  },
  gatewayTests(call) {
    test('explains a video with its usage, and the cost of each channel', async () => {
      const price = dataOf<Explanation>(await call({ example: 'video' }));
      expect(price).toMatchObject({
        operation: 'createVideo',
        model: 'gamma3.0-video',
        unit: 'seconds',
        reservation: { units: 5 },
        settlement: { units: 4 },
      });
      expect(price.reservation.quota).toBeGreaterThan(price.settlement?.quota ?? Number.NaN);
      expect(price.costs.map(({ channel }) => channel)).not.toEqual([]);
    });

    test('explains a video that the provider renders with another resolution', async () => {
      const price = dataOf<Explanation>(await call({ example: 'report' }));
      expect(price).toMatchObject({ operation: 'createVideo', ignored: [], settlement: { units: 5 } });
      expect(price.fields).toMatchObject({ resolution: '720p' });
    });

    test('names the reported fields that no video of the model has', async () => {
      const body = { prompt: 'A kite.', seconds: '5' };
      const reported = { resolution: '4k', ratio: '21:9', audio: true };
      const price = dataOf<Explanation>(await call({ body: { model: 'gamma3.0-video', body, reported } }));
      expect(price).toMatchObject({ ignored: ['resolution', 'ratio'], settlement: { units: 5 } });
    });

    test('400 a report for a model without videos', async () => {
      const body = { model: 'alpha3-tts-flash', input: 'Good morning.', voice: 'Aria' };
      const response = await call({ body: { body, reported: { resolution: '720p' } } });
      expectError(response, 400, { field: 'reported', includes: ['alpha3-tts-flash'] });
    });

    test('explains the upper bound of a speech request', async () => {
      const price = dataOf<Explanation>(await call({ example: 'speech' }));
      expect(price).toMatchObject({
        operation: 'createSpeech',
        reservation: { units: 13 },
        settlement: null,
      });
    });

    test('400 a request that its operation refuses', async () => {
      const body = { model: 'gamma3.0-video', prompt: 'A kite.', seconds: '99' };
      expectError(await call({ body: { body } }), 400, { field: 'body.seconds', includes: ['30'] });
    });

    test('404 an unknown model', async () => {
      expectError(await call({ body: { model: 'gpt-9', body: {} } }), 404, { includes: ['gpt-9'] });
    });
  },
});
