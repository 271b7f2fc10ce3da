import type { Model, VoiceClone, VoiceDesign } from '../../index.ts';
import { hasSharedService } from '../../voices.ts';
import { clientSample, type Samples, samplesOf, shownJson } from '../calls/samples.ts';
import type { Contract, Schema } from '../contract/contract.ts';
import { Form, type JsonObject } from '../contract/form.ts';

export type Mode = 'Clone' | 'Design';

/** Schemas of the services that either clone or design. The other service does both. */
const alphaInput: Readonly<Record<Mode, string>> = {
  Clone: 'AlphaCloneVoiceInput',
  Design: 'AlphaDesignVoiceInput',
};

const initial: Readonly<Record<Mode, JsonObject>> = {
  Clone: {},
  Design: {
    voice_prompt: 'A calm, low voice of an elderly storyteller.',
    preview_text: 'Long ago, a lighthouse stood at the end of this road.',
  },
};

/** The models that the page can make voices for: alpha models for one kind only, all others for both. */
export function targetsOf(mode: Mode, models: readonly Model[]): readonly Model[] {
  const kind = mode === 'Clone' ? '-vc-' : '-vd-';
  const isTarget = ({ id }: Model) => id.includes(kind) || hasSharedService(id);
  // Alpha models come first: they accept recordings of this page.
  return models
    .filter(isTarget)
    .sort((left, right) => Number(hasSharedService(left.id)) - Number(hasSharedService(right.id)));
}

/** Returns the form for the service of the model. `values` are those of the form before it. */
export function createVoiceForm(
  contract: Contract,
  mode: Mode,
  target: string,
  values: JsonObject = {},
): Form {
  const language = contract.component('AlphaVoiceLanguage');
  const required = mode === 'Clone' ? ['url'] : ['voice_prompt', 'preview_text'];
  const input: Schema = hasSharedService(target)
    ? contract.resolve({
        allOf: [contract.component('CreateVoiceInput'), { properties: { language }, required }],
      })
    : contract.component(alphaInput[mode]);
  const names = { prefix: 'narrator', preferred_name: 'narrator', language: 'en' };
  const schema = { type: 'object', properties: { input } };
  return new Form(contract, schema, {
    input: { ...names, ...initial[mode], ...values, target_model: target },
  });
}

/** Whether the service of the selected model clones from addresses only, and has shorter limits. */
export const isShared = (form: Form): boolean => hasSharedService(form.text('input.target_model'));

/** Returns the path of the name: the services have different rules. */
export const namePath = (form: Form): string => (isShared(form) ? 'input.prefix' : 'input.preferred_name');

/** Returns the voice for `client.voices.clone`. */
export function toClone(form: Form): VoiceClone {
  const text = form.text('input.text');
  const audio = form.text(isShared(form) ? 'input.url' : 'input.audio.data');
  return { ...toNewVoice(form), audio, ...(text !== '' && !isShared(form) && { text }) };
}

/** Returns the voice for `client.voices.design`. */
export function toDesign(form: Form): VoiceDesign {
  return {
    ...toNewVoice(form),
    voice_prompt: form.text('input.voice_prompt'),
    preview_text: form.text('input.preview_text'),
  };
}

function toNewVoice(form: Form) {
  const language = form.text('input.language') as NonNullable<VoiceClone['language']>;
  return { target_model: form.text('input.target_model'), name: form.text(namePath(form)), language };
}

/** Returns the call in all languages. The service and its field names depend on the model. */
export function voiceSamples(mode: Mode, form: Form): Samples {
  const clone = toClone(form);
  const voice = mode === 'Clone' ? { ...clone, audio: clone.audio || missingRecording } : toDesign(form);
  const { target_model, name, language, ...source } = voice;
  const own = 'audio' in source ? recordingOf(source.audio, source.text, isShared(form)) : source;
  const service = mode === 'Clone' ? 'alpha-voice-enrollment' : 'alpha-voice-design';
  const body = isShared(form)
    ? {
        model: 'voice-enrollment',
        input: { action: 'create_voice', target_model, prefix: name, language_hints: [language], ...own },
      }
    : { model: service, input: { action: 'create', target_model, preferred_name: name, language, ...own } };
  const method = mode === 'Clone' ? 'clone' : 'design';
  const code = `const voice = await client.voices.${method}(${shownJson(voice)});
await client.voices.waitFor(voice);
console.log(voice.id);`;
  return samplesOf('customizeVoice', body, { extra: { TypeScript: clientSample(code) } });
}

const recordingOf = (audio: string, text: string | undefined, isAddress: boolean) =>
  isAddress ? { url: audio } : { audio: { data: audio }, ...(text && { text }) };

/** Stands for a recording that is not chosen yet. */
const missingRecording = 'https://files.example/narrator.wav';
