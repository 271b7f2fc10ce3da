import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Unigate } from '../../client/index.ts';
import { readModels } from '../../openapi/tools/catalogue.ts';
import { callsOf, voicePlaceholder } from '../../openapi/tools/docs/model-calls.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { compileErrors } from './compile-snippets.ts';
import { createSnippetFolder, hasPython, run } from './snippets.ts';

const file = readModels(await readFile(new URL('../../openapi/models.yaml', import.meta.url), 'utf8'));

/** One model of each page layout and protocol. The samples of the others differ only in the model id. */
const ids = [
  'alpha3-tts-instruct-flash',
  'voxa-v1',
  'beta/speech-2.8-hd',
  'alpha3-tts-vd-2026-01-26',
  'alpha3-tts-instruct-flash-realtime',
  'voice-enrollment',
  'alpha-voice-enrollment',
  'alpha-voice-design',
  'gamma3.0-video-prime',
  'epsilon-delta-2-0-fast-260128',
  'eta-imagine-video',
  'theta-3d',
  'sigma_music',
  'sigma_lyrics',
  'imgjob_image',
  'iota-chat-1',
  'theta-embedding-1',
  'vendorx_verification',
];

let target: TestGateway;
let workspace: Awaited<ReturnType<typeof createSnippetFolder>>;
let voice: string;
beforeAll(async () => {
  target = await startTestGateway();
  workspace = await createSnippetFolder();
  const { speech, voices } = new Unigate({ baseUrl: target.url, apiKey: target.key });
  const input = 'This recording of a voice lasts some seconds, so that a provider can clone it.';
  const recording = await speech.create({ model: 'alpha3-tts-flash', voice: 'Aria', input });
  await writeFile(join(workspace.folder, 'recording.wav'), await recording.bytes());
  const words = { voice_prompt: 'A calm low voice.', preview_text: 'Welcome.' };
  voice = (await voices.design({ target_model: 'alpha3-tts-vd-2026-01-26', name: 'page', ...words })).id;
});
afterAll(async () => {
  await target.close();
  await workspace.remove();
});

describe.each(ids)('the page of %s', (id) => {
  const model = file.models.find((one) => one.id === id);
  if (model === undefined) throw new Error(`${id} is not in the catalog`);
  const systemVoice =
    model.voices === 'system' ? file.voice_sets[file.families[model.family]?.voice_set ?? ''] : [];

  test.for(callsOf(model, systemVoice?.[0]?.id))('the $label sample runs', async (sample, { skip }) => {
    skip(sample.language === 'python' && !hasPython, 'Python or its package requests is missing');
    const code = sample.code.replaceAll(voicePlaceholder, voice);
    const { code: exit, output } = await run({ ...sample, code }, workspace.folder, {
      UNIGATE_BASE_URL: target.url,
      UNIGATE_API_KEY: target.key,
    });
    expect(exit, output).toBe(0);
    expect(output).not.toMatch(/"?(failed|FAILURE|FAILED)"?/);
  });
});

test('every TypeScript sample compiles', async () => {
  const written = file.models.flatMap((model) =>
    callsOf(model)
      .filter(({ language }) => language === 'ts')
      .map(({ label, code }) => ({ file: `${model.id}-${label}.ts`.replace(/[^\w.-]+/g, '-'), code })),
  );
  expect(written.length).toBeGreaterThan(file.models.length);
  expect(await compileErrors(workspace.folder, written)).toBe('');
});
