import { describe, expect, test } from 'vitest';
import { createDesignedTimbre } from '../../server/sandbox/custom-voices/designed-timbre.ts';
import { fundamental, inspectMp3, inspectOpus, inspectPcm, inspectWav, level } from './audio-inspection.ts';
import { RealtimeClient } from './realtime-client.ts';
import { multimodalPath, synthesizerPath, useSandbox } from './sandbox-client.ts';
import { spokenText, VoiceClient } from './voice-client.ts';

const client = useSandbox({ voiceDeploymentMs: 0 });
const voices = new VoiceClient(client);
const vdModel = 'alpha3-tts-vd-2026-01-26';
const vdRealtime = 'alpha3-tts-vd-realtime-2026-01-15';

const design = (voice_prompt: string, more: object = {}, parameters?: object) =>
  voices.act(
    'alpha-voice-design',
    {
      action: 'create',
      target_model: vdModel,
      preferred_name: 'guide',
      voice_prompt,
      preview_text: spokenText,
      language: 'en',
      ...more,
    },
    parameters,
  );

/** Measurements of the preview of a design. */
async function preview(voice_prompt: string) {
  const { output } = await design(voice_prompt);
  const audio = inspectWav(Buffer.from(output.preview_audio.data, 'base64'));
  return { ...audio, voice: output.voice, pitch: fundamental(audio), level: level(audio.samples) };
}

describe('a description determines the voice', () => {
  test('gender, age and pitch', async () => {
    const [female, male, high, deep, girl, chinese] = await Promise.all(
      [
        'A calm female narrator',
        'A calm male narrator',
        'A woman with a high voice',
        'A man with a deep voice',
        'A little girl',
        '低沉的男声',
      ].map(preview),
    );
    if (!female || !male || !high || !deep || !girl || !chinese) throw new Error('no audio');
    expect(female.pitch).toBeGreaterThan(165);
    expect(male.pitch).toBeLessThan(130);
    expect(high.pitch / female.pitch).toBeGreaterThan(1.1);
    expect(deep.pitch / male.pitch).toBeLessThan(0.95);
    expect(girl.pitch).toBeGreaterThan(240);
    expect(chinese.pitch).toBeLessThan(110);
  });

  test('speed, level and old age', async () => {
    const [plain, slow, fast, soft, loud, old] = await Promise.all(
      ['A man', 'A slow man', 'A fast man', 'A soft man', 'A loud man', 'An old man'].map(preview),
    );
    if (!plain || !slow || !fast || !soft || !loud || !old) throw new Error('no audio');
    expect(slow.seconds / plain.seconds).toBeGreaterThan(1.15);
    expect(fast.seconds / plain.seconds).toBeLessThan(0.88);
    expect(old.seconds / plain.seconds).toBeGreaterThan(1.05);
    expect(soft.level / loud.level).toBeLessThan(0.6);
  });

  test('the same description results in the same voice, another one in another voice', () => {
    const robot = createDesignedTimbre('A friendly robot');
    expect(createDesignedTimbre(' a friendly ROBOT ')).toEqual(robot);
    const others = ['A friendly clerk', 'A robot', '友好的机器人', ''].map(createDesignedTimbre);
    expect(new Set([robot, ...others].map(({ speed }) => speed)).size).toBe(5);
  });

  test('whisper, bright and dark select the variant', () => {
    expect(createDesignedTimbre('A woman who whispers').variant).toBe('whisperf');
    expect(createDesignedTimbre('A bright man').variant).not.toBe(createDesignedTimbre('A dark man').variant);
  });
});

describe('previews can be decoded', () => {
  test.each([8000, 16000, 24000, 48000])('alpha at %i Hz in all four formats', async (sample_rate) => {
    const seconds = await Promise.all(
      ['pcm', 'wav', 'mp3', 'opus'].map(async (response_format) => {
        const { output } = await design(
          'A man',
          { preview_text: 'Hello there.' },
          { sample_rate, response_format },
        );
        const { data, ...form } = output.preview_audio;
        expect(form).toEqual({ sample_rate, response_format });
        const file = Buffer.from(data, 'base64');
        if (response_format === 'pcm') return inspectPcm(file, sample_rate).seconds;
        const audio =
          response_format === 'wav'
            ? inspectWav(file)
            : response_format === 'mp3'
              ? inspectMp3(file)
              : await inspectOpus(file);
        expect(audio.sampleRate).toBe(sample_rate);
        return audio.seconds;
      }),
    );
    for (const found of seconds) expect(Math.abs(found - (seconds[0] ?? 0))).toBeLessThan(0.25);
    expect(seconds[0]).toBeGreaterThan(0.6);
  });

  test('the default is WAV at 24 kHz', async () => {
    const { output } = await design('A man');
    expect(output.preview_audio).toMatchObject({ sample_rate: 24000, response_format: 'wav' });
    expect(inspectWav(Buffer.from(output.preview_audio.data, 'base64')).sampleRate).toBe(24000);
  });
});

describe('alpha-voice-design', () => {
  test('a voice is usable immediately, with its target model only', async () => {
    const made = await design('A bright young woman', { target_model: vdRealtime });
    expect(made).toMatchObject({
      output: {
        voice: expect.stringMatching(/^alpha-tts-vd-guide-voice-\d{8}-[0-9a-f]+$/),
        target_model: vdRealtime,
      },
      usage: { count: 1 },
    });
    const { voice, preview_audio } = made.output;
    const shown = fundamental(inspectWav(Buffer.from(preview_audio.data, 'base64')));
    expect(fundamental(await voices.realtime(vdRealtime, voice)) / shown).toBeCloseTo(1, 1);
    expect((await voices.synthesisError(multimodalPath, vdModel, voice)).message).toContain(
      'was created for model',
    );
    const other = await design('A bright young woman');
    expect(fundamental(await voices.generate(vdModel, other.output.voice)) / shown).toBeCloseTo(1, 1);
    const session = new RealtimeClient(client.sandbox, 'alpha3-tts-flash-realtime');
    await session.expect('session.created');
    session.emit('session.update', { session: { voice } });
    expect((await session.expect('error')).error.param).toBe('session.voice');
    session.socket.close();
  });

  test('list, query and delete', async () => {
    const { output } = await design('A man', { preview_text: 'Hi.', language: undefined });
    const item = {
      voice: output.voice,
      gmt_create: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      gmt_modified: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      language: 'zh',
      target_model: vdModel,
      voice_prompt: 'A man',
      preview_text: 'Hi.',
    };
    const act = (input: object) => voices.act('alpha-voice-design', input);
    const listed = await act({ action: 'list', page_size: 1 });
    expect(listed.output).toMatchObject({ page_index: 0, page_size: 1, voice_list: [item] });
    const found = await act({ action: 'query', voice: output.voice });
    expect([found.output, found.usage]).toEqual([item, { count: 0 }]);
    expect((await act({ action: 'delete', voice: output.voice })).output).toEqual({ voice: output.voice });
    const gone = await voices.post('alpha-voice-design', { action: 'query', voice: output.voice });
    expect(gone).toMatchObject({ status: 404, code: 'VoiceNotFound' });
  });
});

describe('voice-enrollment', () => {
  test('creates a designed voice with a preview, which is usable after its deployment', async () => {
    const create = { action: 'create_voice', target_model: 'alpha-audio-3.0-tts-plus', prefix: 'guide' };
    const words = { voice_prompt: 'A deep male voice', preview_text: 'Welcome aboard, all of you.' };
    const made = await voices.act('voice-enrollment', { ...create, ...words }, { response_format: 'mp3' });
    const { voice_id, target_model, preview_audio } = made.output;
    expect(voice_id).toMatch(/^alpha-audio-3\.0-tts-plus-vd-guide-[0-9a-f]+$/);
    expect([target_model, made.usage]).toEqual(['alpha-audio-3.0-tts-plus', { count: 1 }]);
    expect(inspectMp3(Buffer.from(preview_audio.data, 'base64')).sampleRate).toBe(24000);
    const found = await voices.act('voice-enrollment', { action: 'query_voice', voice_id });
    expect(found.output).toEqual({
      voice_id,
      gmt_create: expect.any(String),
      gmt_modified: expect.any(String),
      status: 'OK',
      target_model: 'alpha-audio-3.0-tts-plus',
      ...words,
    });
    const listed = await voices.act('voice-enrollment', { action: 'list_voice' });
    expect(listed.output.voice_list).toEqual([expect.objectContaining({ voice_id, ...words })]);
    expect(fundamental(await voices.synthesize('alpha-audio-3.0-tts-plus', voice_id))).toBeLessThan(110);
    expect((await voices.synthesisError(synthesizerPath, 'alpha-audio-3.0-tts-flash', voice_id)).status).toBe(
      400,
    );
    const update = { action: 'update_voice', voice_id, url: 'http://127.0.0.1/' };
    expect((await voices.post('voice-enrollment', update)).message).toBe(
      'input.voice_id must be a cloned voice',
    );
  });
});
