import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import asyncapi from '../../generated/asyncapi.json' with { type: 'json' };
import openapi from '../../generated/openapi.json' with { type: 'json' };
import { readModels } from '../../openapi/tools/catalogue.ts';
import { voiceTargets } from '../../openapi/tools/docs/model-kinds.ts';
import { modelPage, modelPages } from '../../openapi/tools/docs/model-pages.ts';
import type { JsonObject } from '../../openapi/tools/document.ts';
import { targetModel, type VoiceService } from '../../server/models/catalogue.ts';
import { videoSeconds } from '../../server/models/video-options.ts';

const file = readModels(await readFile(new URL('../../openapi/models.yaml', import.meta.url), 'utf8'));
const pages = modelPages({
  openapi: openapi as unknown as JsonObject,
  asyncapi: asyncapi as unknown as JsonObject,
  models: file,
});
const pageOf = (id: string) => pages.get(modelPage(id)) ?? '';

test('every model has a page of its own, and the index links to it', () => {
  const paths = file.models.map(({ id }) => modelPage(id));
  expect(new Set(pages.keys())).toEqual(new Set(['models/index', ...paths]));
  expect(pages.size).toBe(file.models.length + 1);
  const linked = [...(pages.get('models/index') ?? '').matchAll(/\]\((models\/[\w-]+)\)/g)].map(
    ([, path]) => path,
  );
  expect(new Set(linked)).toEqual(new Set(paths));
  expect(linked).toHaveLength(paths.length);
});

test.each([...pages])('the links of %s to other models resolve', (_, markdown) => {
  for (const [, path = ''] of markdown.matchAll(/\]\((models\/[\w-]+)\)/g))
    expect(pages.has(path)).toBe(true);
});

test.each(file.models)('the page of $id has its call, its unit and its routes', ({ id, unit }) => {
  const page = pageOf(id);
  expect(page).toContain(`# ${id}\n`);
  expect(page).toContain('::: code-group\n\n```');
  expect(page).toMatch(/\| Unit \| \w+/);
  expect(page).toContain(`metered in ${unit === 'tokens' ? 'input and output tokens' : unit}`);
  expect(page).toMatch(/\| Routes \| \[`(GET|POST) \/[^`]+`\]\(reference#operation\/\w+\)/);
  expect(page).not.toContain('undefined');
  expect(page).not.toContain('NaN');
});

test('a system voice has a link to the playground with the model and the voice', () => {
  expect(pageOf('beta/speech-2.8-hd')).toContain(
    'href="../../console/#/speech?model=beta%2Fspeech-2.8-hd&amp;voice=beta_female_calm"',
  );
});

describe('limits', () => {
  test.each([
    ['alpha3-tts-flash', 'up to 600 characters'],
    ['alpha-tts', 'up to 512 tokens'],
    ['beta/speech-02-hd', 'up to 9,999 characters'],
    ['voxa-v3-flash', 'up to 20,000 characters'],
    ['alpha3-tts-flash', '| Audio formats | wav, or pcm while streaming |'],
    ['voxa-v3-flash', '| Audio formats | mp3, pcm, wav, opus (default mp3) |'],
    ['alpha-tts-realtime', '| Audio formats | pcm |'],
    ['alpha-tts-realtime', '| Sample rate | 24,000 Hz |'],
    ['alpha3-tts-flash-realtime', '| Sample rates | 8,000, 16,000, 24,000, 48,000 Hz (default 24,000 Hz) |'],
    ['epsilon-delta-2-0-fast-260128', '| Resolution | 480p, 720p |'],
    ['epsilon-delta-2-0-260128', '| Resolution | 480p, 720p, 1080p, 4k |'],
    ['eta-imagine-video', '| Resolution | 480p, 720p |'],
    ['eta-imagine-video-1.5-preview', '| Resolution | 480p, 720p, 1080p |'],
  ])('the page of %s states: %s', (id, words) => {
    expect(pageOf(id)).toContain(words);
  });

  test.each(file.models.filter(({ family }) => family === 'gamma' || family === 'seedance'))(
    'the duration of $id is that of the gateway',
    ({ id }) => {
      const [shortest, longest] = videoSeconds(id) ?? [];
      expect(pageOf(id)).toContain(`| Duration | -1 or ${shortest} to ${longest} seconds |`);
    },
  );
});

test.each([
  ['alpha3-tts-instruct-flash', true],
  ['alpha3-tts-flash', false],
  ['alpha3-tts-instruct-flash-realtime', true],
  ['alpha3-tts-flash-realtime', false],
])('%s lists instructions: %s', (id, listed) => {
  expect(pageOf(id).includes('| `instructions` |')).toBe(listed);
});

test.each(file.models.filter(({ protocols }) => protocols.includes('customization')))(
  '$id creates voices for the models that the gateway accepts',
  (service) => {
    const targets = voiceTargets(service, file.models).map(({ id }) => id);
    expect(targets).not.toEqual([]);
    for (const { id } of file.models) {
      const find = () => targetModel(service.id as VoiceService, id);
      if (targets.includes(id)) expect(find().id).toBe(id);
      else expect(find).toThrow('makes no voices for');
    }
  },
);
