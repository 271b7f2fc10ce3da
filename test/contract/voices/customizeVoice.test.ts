import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { hasSignature } from '../../conformance/wire/media-signatures.ts';
import { type Call, describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError, expectProviderError } from '../../support/expectations.ts';

interface Reply {
  output: {
    voice_id?: string;
    voice?: string;
    preview_audio?: { data: string };
    voice_list?: { voice_id?: string; voice?: string }[];
  };
}

const words = { voice_prompt: 'A deep, calm voice.', preview_text: 'Hello there.' };
const design = {
  model: 'voice-enrollment',
  input: { action: 'create_voice', target_model: 'voxa-v3.5-flash', prefix: 'calm', ...words },
};
const alphaDesign = {
  model: 'alpha-voice-design',
  input: { action: 'create', target_model: 'alpha3-tts-vd-2026-01-26', preferred_name: 'calm', ...words },
};
const alphaClone = (data: string) => ({
  model: 'alpha-voice-enrollment',
  input: {
    action: 'create',
    target_model: 'alpha3-tts-vc-2026-01-22',
    preferred_name: 'me',
    audio: { data },
  },
});

async function done(call: Call, model: string, input: { [field: string]: string }): Promise<Reply['output']> {
  const response = await call({ body: { model, input } });
  expect(response.status, response.body.toString('utf8', 0, 300)).toBe(200);
  return (jsonOf(response) as Reply).output;
}

function expectPreview({ preview_audio }: Reply['output']): void {
  expect(hasSignature('audio/wav', Buffer.from(preview_audio?.data ?? '', 'base64'))).toBe(true);
}

/** Returns a spoken sentence for cloning as a data URL. */
async function recording(): Promise<string> {
  const input =
    'This is the recording of a voice. It lasts some seconds, so that there is enough of it to hear.';
  const body = { model: 'alpha3-tts-flash', voice: 'Aria', input };
  const speech = await exchange(inject('gateway'), documented('createSpeech'), { body });
  return `data:audio/wav;base64,${speech.body.toString('base64')}`;
}

describeOperation('customizeVoice', {
  invalid: {
    'without a model': { change: { model: undefined }, field: 'model' },
    'a model that customizes nothing': { change: { model: 'voxa-v2' }, field: 'model' },
    'without an action': { change: { input: { action: undefined } }, field: 'input.action' },
    'an action of another service': { change: { input: { action: 'create' } }, field: 'input.action' },
    'a clone without its target model': {
      example: 'clone',
      change: { input: { target_model: undefined } },
      field: 'input.target_model',
    },
    'a prefix of 11 characters': {
      example: 'clone',
      change: { input: { prefix: 'abcdefghijk' } },
      field: 'input.prefix',
      limit: 10,
    },
    'a recording part of 31 seconds': {
      example: 'clone',
      change: { input: { max_prompt_audio_length: 31 } },
      field: 'input.max_prompt_audio_length',
      limit: 30,
    },
    'a design without a preview text': {
      example: 'design',
      change: { input: { preview_text: undefined } },
      field: 'input.preview_text',
    },
    'a page of 1001 voices': {
      example: 'list',
      change: { input: { page_size: 1001 } },
      field: 'input.page_size',
      limit: 1000,
    },
    'an alpha clone without a recording': {
      example: 'alpha_clone',
      change: { input: { audio: undefined } },
      field: 'input.audio',
    },
  },
  gatewayTests: (call) => {
    test('200 the life of a designed voice', async () => {
      const created = await done(call, design.model, design.input);
      expectPreview(created);
      const { voice_id = '' } = created;
      const { voice_list } = await done(call, design.model, { action: 'list_voice', prefix: 'calm' });
      expect(voice_list?.map((voice) => voice.voice_id)).toContain(voice_id);
      await done(call, design.model, { action: 'query_voice', voice_id });
      await done(call, design.model, { action: 'delete_voice', voice_id });
      const response = await call({
        body: { model: design.model, input: { action: 'query_voice', voice_id } },
      });
      expectError(response, 404, { code: 'voice_not_found', includes: [voice_id] });
    });
    test('200 the life of a designed alpha voice', async () => {
      const created = await done(call, alphaDesign.model, alphaDesign.input);
      expectPreview(created);
      const { voice = '' } = created;
      await done(call, alphaDesign.model, { action: 'query', voice });
      expect(await done(call, alphaDesign.model, { action: 'delete', voice })).toEqual({ voice });
    });
    test('200 the life of a cloned alpha voice', async () => {
      const body = alphaClone(await recording());
      const { voice = '' } = (jsonOf(await call({ body })) as Reply).output;
      const { voice_list } = await done(call, body.model, { action: 'list' });
      expect(voice_list?.map((one) => one.voice)).toContain(voice);
      await done(call, body.model, { action: 'delete', voice });
    });
    test('400 a target model that the service does not support', async () => {
      const body = { ...design, input: { ...design.input, target_model: 'alpha3-tts-flash' } };
      expectError(await call({ body }), 400, { code: 'invalid_request', field: 'input.target_model' });
    });
    test('400 a rejected recording, unchanged', async () => {
      const body = alphaClone('data:audio/wav;base64,AAAA');
      expectProviderError(await call({ body }), 400, 'InvalidParameter');
    });
    test('404 an unknown voice', async () => {
      const body = { model: design.model, input: { action: 'delete_voice', voice_id: 'voxa-v2-none-1' } };
      expectError(await call({ body }), 404, { code: 'voice_not_found' });
    });
    test('403 for a service that the key may not use', async () => {
      expectError(await call({ body: design, as: 'noModels' }), 403, {
        code: 'access_denied',
        field: 'model',
      });
    });
    test('403 for a key without quota', async () => {
      expectError(await call({ body: design, as: 'noQuota' }), 403, { code: 'insufficient_user_quota' });
    });
  },
});
