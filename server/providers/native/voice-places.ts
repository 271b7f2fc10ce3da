import type { NamedVoice } from '../../channels/voice-route.ts';
import { invalid } from '../../failure.ts';

/** The bodies in which clients name voices. */
export type VoiceProtocol = 'synthesizer' | 'multimodal' | 'inference' | 'realtime' | 'customization';

interface Places {
  /** Where the protocol has a voice; `[]` stands for each item of a list. */
  voices: readonly string[];
  /** What people read or hear, which may say anything. */
  words: readonly string[];
}

/** What each protocol says of its bodies. Keys that it does not know go to the provider, who may know them. */
export const voicePlaces: Readonly<Record<VoiceProtocol, Places>> = {
  synthesizer: {
    voices: ['input.voice', 'input.voice_id', 'parameters.voice', 'parameters.voice_id'],
    words: ['input.text', 'input.instruction', 'input.hot_fix'],
  },
  multimodal: {
    voices: [
      'input.voice',
      'input.voice_id',
      'input.voice_setting.voice_id',
      'input.timbre_weights[].voice_id',
      'parameters.voice',
      'parameters.voice_id',
      'parameters.voice_setting.voice_id',
      'parameters.timbre_weights[].voice_id',
    ],
    words: ['input.text', 'input.instructions', 'input.pronunciation_dict', 'input.clone_prompt.prompt_text'],
  },
  inference: {
    voices: [
      'payload.parameters.voice',
      'payload.parameters.voice_id',
      'payload.input.voice',
      'payload.input.voice_id',
      'payload.voice',
    ],
    words: ['payload.input.text', 'payload.parameters.instruction', 'payload.parameters.hot_fix'],
  },
  realtime: {
    voices: ['session.voice', 'session.voice_id', 'session.audio.output.voice', 'voice', 'response.voice'],
    words: ['text', 'session.instructions'],
  },
  customization: {
    voices: ['input.voice', 'input.voice_id', 'parameters.voice', 'parameters.voice_id'],
    words: ['input.voice_prompt', 'input.preview_text', 'input.text'],
  },
};

/** Keys that name a voice wherever they stand, however they are written, with all that stands below them. */
const voiceKeys: ReadonlySet<string> = new Set([
  'voice',
  'voiceid',
  'voicename',
  'voices',
  'speaker',
  'speakerid',
]);

/** Keys whose values the contract lists, or that name something else: no provider takes them for a voice. */
const otherKeys: ReadonlySet<string> = new Set(
  `action aigc_propagate_id aigc_propagator audio_url data emotion event_id format function header language
  language_boost language_hints language_type mode model output_format preferred_name prefix response_format
  sound_effects streaming target_model task task_group task_id text_type type url`.split(/\s+/),
);

/** Longer than any id of a voice. */
const maxIdLength = 256;
/** More than a body has that means well. */
const maxVoices = 500;
const maxDepth = 100;

/**
 * The strings of a body that the provider may take for a voice: those that stand where one belongs, and all others of
 * which nobody knows what they are.
 *
 * @param except places that are looked at elsewhere
 * @throws Failure 400 when they are too many to be looked up, or stand too deep
 */
export function voicesIn(
  protocol: VoiceProtocol,
  body: Readonly<Record<string, unknown>>,
  except: readonly string[] = [],
): NamedVoice[] {
  const { voices, words } = voicePlaces[protocol];
  const passed = new Set([...words, ...except]);
  const found: NamedVoice[] = [];
  const look = (value: unknown, path: readonly string[], place: string, named: boolean): void => {
    if (passed.has(place)) return;
    if (typeof value === 'string') {
      const isVoice = named || voices.includes(place);
      const key = path.findLast((one) => !/^\d+$/.test(one)) ?? '';
      if (value === '' || (!isVoice && (value.length > maxIdLength || otherKeys.has(key)))) return;
      if (found.length === maxVoices) throw invalid(nameOf(path), 'is one unknown value too many.');
      found.push({ field: nameOf(path), voice: value, named: isVoice });
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    if (path.length === maxDepth) throw invalid(nameOf(path), `is nested deeper than ${maxDepth} levels.`);
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) look(item, [...path, String(index)], `${place}[]`, named);
      return;
    }
    for (const [key, inner] of Object.entries(value))
      look(inner, [...path, key], place === '' ? key : `${place}.${key}`, named || namesVoice(key));
  };
  look(body, [], '', false);
  return found;
}

function namesVoice(key: string): boolean {
  return voiceKeys.has(key.toLowerCase().replaceAll(/[-_]/g, ''));
}

/** Cut, since keys are the client's own. */
function nameOf(path: readonly string[]): string {
  return path.join('.').slice(0, 200);
}
