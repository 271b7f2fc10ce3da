import { invalid } from '../../lib/failure.ts';

/** Which form of native input a model takes. */
type InputForm = 'synthesizer' | 'alpha' | 'beta';

/** The options of each form, with what is usual where that is one value. */
const known: Readonly<Record<InputForm, Readonly<Record<string, unknown>>>> = {
  synthesizer: {
    format: undefined,
    sample_rate: undefined,
    volume: 50,
    rate: 1,
    pitch: 1,
    bit_rate: undefined,
    enable_ssml: false,
    word_timestamp_enabled: false,
    seed: 0,
    language_hints: undefined,
    instruction: undefined,
    enable_markdown_filter: false,
    enable_aigc_tag: false,
    aigc_propagator: undefined,
    aigc_propagate_id: undefined,
    hot_fix: undefined,
  },
  alpha: { language_type: 'Auto', instructions: undefined, optimize_instructions: false },
  beta: {
    action: undefined,
    voice_setting: undefined,
    audio_setting: undefined,
    pronunciation_dict: undefined,
    timbre_weights: undefined,
    language_boost: undefined,
    voice_modify: undefined,
    subtitle_enable: false,
    output_format: undefined,
    stream_options: undefined,
    aigc_watermark: false,
  },
};
/** What the standard request translates beside a form's own options. */
const translated: Readonly<Record<InputForm, Readonly<Record<string, unknown>>>> = {
  synthesizer: {},
  alpha: { format: undefined },
  beta: { sample_rate: undefined },
};
/** The only rate of alpha models, in Hz. */
const alphaRate = 24_000;

/**
 * Native options are the provider's to judge, but one that only other models have would change nothing, silently.
 *
 * @throws Failure 400 naming the option, unless its value asks for what is usual anyway
 */
export function checkNativeOptions(
  modelId: string,
  form: InputForm,
  input: Readonly<Record<string, unknown>>,
): void {
  if (form === 'beta' && input.action !== undefined) {
    throw invalid(
      'extra_body.input.action',
      `on this route ${modelId} only speaks; clone a voice on its native route.`,
    );
  }
  for (const [name, value] of Object.entries(input)) {
    if (value === null || value === undefined) continue;
    if (Object.hasOwn(known[form], name) || Object.hasOwn(translated[form], name)) continue;
    const foreign = Object.values(known).find((options) => Object.hasOwn(options, name));
    if (foreign === undefined || value === foreign[name]) continue;
    if (form === 'alpha' && name === 'sample_rate') {
      if (value === alphaRate) continue;
      throw invalid(`extra_body.input.${name}`, `${modelId} speaks at ${alphaRate} Hz only.`);
    }
    const own = Object.keys(known[form]).filter((option) => option !== 'action');
    throw invalid(`extra_body.input.${name}`, `${modelId} has no such option; it has ${own.join(', ')}.`);
  }
}
