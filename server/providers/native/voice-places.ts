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
  const found: NamedVoice[] = [];
  const path: string[] = [];
  /** `name` is that of the field that the value stands in, be it as an item of a list. */
  const look = (value: unknown, place: Place | undefined, named: boolean, name: string): void => {
    if (place?.passed) return;
    if (typeof value === 'string') {
      const isVoice = named || place?.voice === true;
      if (value === '' || (!isVoice && (value.length > maxIdLength || otherKeys.has(name)))) return;
      if (found.length === maxVoices) throw invalid(nameOf(path), 'is one unknown value too many.');
      found.push({ field: nameOf(path), voice: value, named: isVoice });
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    if (path.length === maxDepth) throw invalid(nameOf(path), `is nested deeper than ${maxDepth} levels.`);
    const list = Array.isArray(value);
    for (const [key, inner] of Object.entries(value)) {
      path.push(key);
      if (list) look(inner, place?.items, named, name);
      else look(inner, place?.keys.get(key), named || namesVoice(key), key);
      path.pop();
    }
  };
  look(body, rootOf(protocol, except), false, '');
  return found;
}

/** What is known of a place in a body, and of those below it. */
interface Place {
  voice: boolean;
  passed: boolean;
  readonly keys: Map<string, Place>;
  items: Place | undefined;
}

/** By protocol and the places that are left out, of which the operations have a few. */
const roots = new Map<string, Place>();

function rootOf(protocol: VoiceProtocol, except: readonly string[]): Place {
  return roots.getOrInsertComputed([protocol, ...except].join(' '), () => {
    const { voices, words } = voicePlaces[protocol];
    const root = newPlace();
    for (const name of voices) placeAt(root, name).voice = true;
    for (const name of [...words, ...except]) placeAt(root, name).passed = true;
    return root;
  });
}

function newPlace(): Place {
  return { voice: false, passed: false, keys: new Map(), items: undefined };
}

/** The place of a name such as `input.timbre_weights[].voice_id`. */
function placeAt(root: Place, name: string): Place {
  let place = root;
  for (const segment of name.split('.')) {
    const [key = '', ...lists] = segment.split('[]');
    place = place.keys.getOrInsertComputed(key, newPlace);
    for (const _ of lists) place = place.items ??= newPlace();
  }
  return place;
}

function namesVoice(key: string): boolean {
  // None of them begins otherwise.
  return /^[vs_-]/i.test(key) && voiceKeys.has(key.toLowerCase().replaceAll(/[-_]/g, ''));
}

/** Cut, since keys are the client's own. */
function nameOf(path: readonly string[]): string {
  return path.join('.').slice(0, 200);
}
