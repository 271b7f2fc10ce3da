import { describe, expect, test } from 'vitest';
import { voiceSets } from '../../generated/catalogue.ts';
import { brightness, fundamental, inspectWav, level } from './audio-inspection.ts';
import { type BetaReply, multimodalPath, synthesizerPath, useSandbox } from './sandbox-client.ts';

const client = useSandbox();
const english = 'The quick brown fox jumps over the lazy dog.';
const chinese = '今天天气很好，我们出去走走吧。';

async function voxa(input: object) {
  const body = { model: 'voxa-v2', input: { text: english, voice: 'voxanna', format: 'wav', ...input } };
  return inspectWav((await client.speak(synthesizerPath, body)).file);
}

async function alpha(input: object, model = 'alpha3-tts-instruct-flash') {
  return inspectWav(
    (await client.speak(multimodalPath, { model, input: { text: english, voice: 'Aria', ...input } })).file,
  );
}

async function beta(voice_setting: object, input: object = {}) {
  const response = await client.post(multimodalPath, {
    model: 'beta/speech-02-turbo',
    input: {
      text: english,
      voice_setting: { voice_id: 'beta_female_calm', ...voice_setting },
      audio_setting: { format: 'wav', sample_rate: 24000 },
      ...input,
    },
  });
  const { output } = (await response.json()) as BetaReply;
  return inspectWav(Buffer.from(output.data?.audio ?? '', 'hex'));
}

async function alphaAudio(input: object) {
  const body = { model: 'alpha-audio-3.0-tts-plus', input: { format: 'wav', ...input } };
  return inspectWav((await client.speak(synthesizerPath, body)).file);
}

const speakers = {
  alpha: (voice: string, text: string) => alpha({ voice, text }),
  'alpha-audio': (voice: string, text: string) => alphaAudio({ voice, text }),
  voxa: (voice: string, text: string) => voxa({ voice, text }),
  beta: (voice: string, text: string) => beta({ voice_id: voice }, { text }),
};

describe.each([
  ['English', english],
  ['Chinese', chinese],
])('the system voices in %s', (_language, text) => {
  test.each(Object.keys(speakers) as (keyof typeof speakers)[])('%s sound different', async (set) => {
    const measured = await Promise.all(
      voiceSets[set].map(async ({ id, gender }) => {
        const audio = await speakers[set](id, text);
        expect(level(audio.samples), id).toBeGreaterThan(0.03);
        const pitch = fundamental(audio);
        if (gender === 'male') expect(pitch, id).toBeLessThan(150);
        else expect(pitch, id).toBeGreaterThan(150);
        return { id, pitch, seconds: audio.seconds, brightness: brightness(audio) };
      }),
    );
    for (const [index, first] of measured.entries()) {
      for (const second of measured.slice(index + 1)) {
        const ratios = (['pitch', 'seconds', 'brightness'] as const).map((measure) =>
          Math.abs(Math.log(first[measure] / second[measure])),
        );
        expect(Math.max(...ratios), `${first.id} and ${second.id}`).toBeGreaterThan(0.05);
      }
    }
  });
});

describe('prosody', () => {
  test('rate 2 halves and rate 0.5 doubles the duration', async () => {
    const [plain, fast, slow] = await Promise.all([voxa({}), voxa({ rate: 2 }), voxa({ rate: 0.5 })]);
    expect(fast.seconds / plain.seconds).toBeCloseTo(0.5, 1);
    expect(slow.seconds / plain.seconds).toBeGreaterThan(1.8);
    expect(slow.seconds / plain.seconds).toBeLessThan(2.2);
  });

  test('pitch changes the fundamental and little else', async () => {
    const voice = 'voxton';
    const [plain, high, low] = await Promise.all([
      voxa({ voice }),
      voxa({ voice, pitch: 2 }),
      voxa({ voice, pitch: 0.5 }),
    ]);
    expect(fundamental(high) / fundamental(plain)).toBeGreaterThan(1.5);
    expect(fundamental(low) / fundamental(plain)).toBeLessThan(0.75);
    expect(high.seconds / plain.seconds).toBeCloseTo(1, 1);
  });

  test('volume scales the level', async () => {
    const levels = await Promise.all(
      [0, 25, 50, 100].map(async (volume) => level((await voxa({ volume })).samples)),
    );
    const [silent = 1, quiet = 0, plain = 0, loud = 0] = levels;
    expect(silent).toBe(0);
    expect(quiet / plain).toBeCloseTo(0.5, 1);
    expect(loud / plain).toBeGreaterThan(1.8);
    expect(loud / plain).toBeLessThan(2.05);
  });

  test('voice_setting and voice_modify of the beta models', async () => {
    const [plain, fast, high, quiet, sad, modified] = await Promise.all([
      beta({}),
      beta({ speed: 2 }),
      beta({ pitch: 6 }),
      beta({ vol: 0.5 }),
      beta({ emotion: 'sad' }),
      beta({}, { voice_modify: { pitch: -60 } }),
    ]);
    expect(fast.seconds / plain.seconds).toBeCloseTo(0.5, 1);
    expect(fundamental(high) / fundamental(plain)).toBeGreaterThan(1.2);
    expect(level(quiet.samples) / level(plain.samples)).toBeCloseTo(0.5, 1);
    expect(sad.seconds / plain.seconds).toBeGreaterThan(1.1);
    expect(fundamental(modified) / fundamental(plain)).toBeLessThan(0.85);
  });

  test('a pause tag is silence of the given length', async () => {
    const [plain, paused] = await Promise.all([
      beta({}, { text: 'Wait. Now go.' }),
      beta({}, { text: 'Wait.<#1.5#> Now go.' }),
    ]);
    expect(paused.seconds - plain.seconds).toBeCloseTo(1.5, 1);
  });

  test('the voice with the highest weight is used', async () => {
    const timbre_weights = [
      { voice_id: 'beta_male_deep', weight: 80 },
      { voice_id: 'beta_female_calm', weight: 20 },
    ];
    expect(fundamental(await beta({ voice_id: '' }, { timbre_weights }))).toBeLessThan(120);
  });
});

describe('instructions', () => {
  test('have an effect', async () => {
    const say = (instructions?: string) => alpha({ instructions });
    const [plain, slow, fast, high, low, loud, soft, whisper] = await Promise.all(
      [undefined, 'slowly', 'very fast', 'high', 'a deep voice', 'loud', 'softly', 'whisper'].map(say),
    );
    if (!plain || !slow || !fast || !high || !low || !loud || !soft || !whisper) throw new Error('no audio');
    expect(slow.seconds / plain.seconds).toBeGreaterThan(1.2);
    expect(fast.seconds / plain.seconds).toBeLessThan(0.85);
    expect(fundamental(high) / fundamental(plain)).toBeGreaterThan(1.1);
    expect(fundamental(low) / fundamental(plain)).toBeLessThan(0.92);
    expect(level(loud.samples) / level(plain.samples)).toBeGreaterThan(1.3);
    expect(level(soft.samples) / level(plain.samples)).toBeLessThan(0.75);
    expect(brightness(whisper) / brightness(plain)).toBeGreaterThan(1.3);
  });

  test('work in Chinese, and have a stronger effect when optimized', async () => {
    const [plain, slow, slower] = await Promise.all([
      alpha({ text: chinese }),
      alpha({ text: chinese, instructions: '说得慢一点' }),
      alpha({ text: chinese, instructions: '说得慢一点', optimize_instructions: true }),
    ]);
    expect(slow.seconds / plain.seconds).toBeGreaterThan(1.2);
    expect(slower.seconds / slow.seconds).toBeGreaterThan(1.03);
  });

  test('work as instruction of the synthesizer route', async () => {
    const [plain, fast] = await Promise.all([voxa({}), voxa({ instruction: 'Speak fast' })]);
    expect(fast.seconds / plain.seconds).toBeLessThan(0.85);
  });
});

describe('language', () => {
  test('a requested language changes the pronunciation', async () => {
    const text = 'Radio Internet Video Taxi';
    const [detected, german, french] = await Promise.all(
      ['Auto', 'German', 'French'].map((language_type) => alpha({ text, voice: 'Bruno', language_type })),
    );
    if (!detected || !german || !french) throw new Error('no audio');
    expect(german.seconds).not.toBeCloseTo(detected.seconds, 2);
    expect(french.seconds).not.toBeCloseTo(detected.seconds, 2);
    expect(french.seconds).not.toBeCloseTo(german.seconds, 2);
  });

  test.each(['こんにちは、世界。', '안녕하세요 세계.', 'Привет, мир.', 'สวัสดีชาวโลก'])(
    'speaks %s',
    async (text) => {
      const audio = await alpha({ text });
      expect(audio.seconds).toBeGreaterThan(0.6);
      expect(level(audio.samples)).toBeGreaterThan(0.02);
    },
  );

  test('SSML tags and markdown markup are not spoken', async () => {
    const [plain, ssml, markdown] = await Promise.all([
      voxa({}),
      voxa({ text: `<speak rate="1"><s>${english}</s></speak>`, enable_ssml: true }),
      voxa({ text: `**${english}**`, enable_markdown_filter: true }),
    ]);
    expect(ssml.seconds).toBeCloseTo(plain.seconds, 1);
    expect(markdown.seconds).toBeCloseTo(plain.seconds, 1);
  });

  test('text that cannot be pronounced is a valid short file', async () => {
    const audio = await alpha({ text: '…\u0000\ud800 [[h@l]] \u{1f600}' });
    expect(audio.seconds).toBeGreaterThan(0.09);
  });
});
