import { invalid } from '../../lib/failure.ts';

type InputForm = 'synthesizer' | 'alpha' | 'beta';

/** Options of each form with their default, if it is a single value. */
const optionsByForm: Readonly<Record<InputForm, Readonly<Record<string, unknown>>>> = {
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
/** Option that the standard request translates for each form. */
const standardOptions: Readonly<Partial<Record<InputForm, string>>> = {
  alpha: 'format',
  beta: 'sample_rate',
};
/** The only sample rate of alpha models, in Hz. */
const alphaRate = 24_000;

/** Rejects options of other models, which the provider would ignore. @throws Failure 400 that names the option */
export function checkNativeOptions(
  modelId: string,
  form: InputForm,
  input: Readonly<Record<string, unknown>>,
): void {
  if (form === 'beta' && input.action !== undefined)
    throw invalid(
      'extra_body.input.action',
      `is not allowed on this route. Clone a voice on the native route of ${modelId}.`,
    );
  for (const [name, value] of Object.entries(input)) {
    if (value === null || value === undefined) continue;
    if (Object.hasOwn(optionsByForm[form], name) || standardOptions[form] === name) continue;
    const foreign = Object.values(optionsByForm).find((options) => Object.hasOwn(options, name));
    if (foreign === undefined || value === foreign[name]) continue;
    if (form === 'alpha' && name === 'sample_rate') {
      if (value === alphaRate) continue;
      throw invalid(`extra_body.input.${name}`, `must be ${alphaRate} for ${modelId}.`);
    }
    const own = Object.keys(optionsByForm[form]).filter((option) => option !== 'action');
    throw invalid(`extra_body.input.${name}`, `is not an option of ${modelId}, which has ${own.join(', ')}.`);
  }
}
