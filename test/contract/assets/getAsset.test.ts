import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { type Call, describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';

interface Reply {
  data: { Id: string; Status: string; AssetType: string; Name: string; Error?: { Code: string } };
}

const waitOptions = { timeout: 15_000, interval: 100 };

async function uploaded(body: { url: string; asset_type: string; name: string }): Promise<string> {
  const response = await exchange(inject('gateway'), documented('uploadAsset'), { body });
  return (jsonOf(response) as Reply).data.Id;
}

async function shown(call: Call, id: string): Promise<Reply['data']> {
  const response = await call({ path: { id } });
  expect(response.status, response.body.toString('utf8', 0, 300)).toBe(200);
  return (jsonOf(response) as Reply).data;
}

/** Returns a file of the provider, which it fetches on this machine. */
async function recording(): Promise<string> {
  const input = { text: 'This is a recording of a few seconds, and no more than that.', voice: 'Aria' };
  const speech = await exchange(inject('gateway'), documented('generateMultimodalSpeech'), {
    body: { model: 'alpha3-tts-flash', input },
  });
  return (jsonOf(speech) as { output: { audio: { url: string } } }).output.audio.url;
}

describeOperation('getAsset', {
  invalid: {
    'an id of 129 characters': { path: { id: 'a'.repeat(129) }, field: 'id', limit: 128 },
    'a model that takes no query': {
      query: { model: 'epsilon-delta-2-0-260128' },
      field: 'model',
      limit: 'zeta',
    },
  },
  gatewayTests: (call) => {
    test('400 an id with a NUL character', async () => {
      expectError(await call({ path: { id: 'a\0b' } }), 400, { code: 'invalid_request', field: 'id' });
    });
    test('200 processing, then active', async () => {
      const id = await uploaded({ url: await recording(), asset_type: 'Audio', name: 'few words' });
      expect(await shown(call, id)).toMatchObject({ Id: id, AssetType: 'Audio', Name: 'few words' });
      await expect.poll(() => shown(call, id), waitOptions).toMatchObject({ Status: 'Active' });
    });
    test('200 a failed asset, with the reason', async () => {
      const id = await uploaded({ url: 'http://127.0.0.1:9/a.png', asset_type: 'Image', name: '' });
      const failed = { Status: 'Failed', Error: { Code: 'InvalidURL' } };
      await expect.poll(() => shown(call, id), waitOptions).toMatchObject(failed);
    });
    test('404 an unknown asset and one of another user', async () => {
      const id = await uploaded({ url: 'http://127.0.0.1:9/a.png', asset_type: 'Image', name: '' });
      const notFound = { code: 'resource_not_found', field: 'id' };
      expectError(await call({ path: { id: 'asset-20260301120000-none0' } }), 404, notFound);
      expectError(await call({ path: { id }, as: 'noQuota' }), 404, notFound);
    });
  },
});
